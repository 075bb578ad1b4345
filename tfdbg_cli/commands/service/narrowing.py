"""A list narrowed by a query while a user types it: tried in the place of its page, then kept or taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import require_moment
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.registry import Registry
from tfdbg_cli.commands.service.pages import Page, Pages
from tfdbg_cli.commands.syntax import parse_line
from tfdbg_cli.document.document import Document
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.fetching import in_steps


def list_words(page: Page) -> Sequence[str]:
    """The words of the command that lists what is on `page`; of `runs 2`, which shows tensors, that is `lt`."""
    words = parse_line(page.command).words or ("",)
    return ("lt",) if page.document.kind == "tensors" and words[0] == "runs" else words


class Narrowing:
    """A query being typed for the list on the current page of `pages`, whose place the filtered list takes.

    `original` is the page before, `text` the query, `error` what is wrong with it, if anything. The last result
    stays on show until the next one is complete.

    Raises:
        TfdbgError: the page is no list that takes a query.

    """

    def __init__(self, context: Context, registry: Registry, pages: Pages) -> None:
        self._context = context
        self._pages = pages
        self.original = pages.current
        words = list_words(self.original)
        self._command = registry.find(words[0])
        if QUERY_ARGUMENT not in self._command.arguments:
            # A few names are enough: all of them fill the row, and would be loaded for it.
            hint = "`lt`, `layers`, `runs` and other lists are; / searches here."
            raise TfdbgError("This is no list that filters.", hint=hint)
        require_moment(self._command, context)
        self._options = self._command.parse(words[1:])
        self.text: str = self._options.query
        self._query = self.text.strip()
        self._steps: Iterator[float | None] | None = None
        self.error: TfdbgError | None = None

    @property
    def running(self) -> bool:
        """Whether the rows of the last text are still being looked for."""
        return self._steps is not None

    def ask(self, text: str) -> None:
        """Set the query to `text`, and begin to look for its rows; a search under way is dropped."""
        self.text = text
        self.error = None
        self._options.query = text.strip()
        self._steps = in_steps(self._found)

    def work(self, enough: Callable[[], bool]) -> None:
        """Go on looking until `enough()`, or until the rows are shown; a TfdbgError goes to `error`."""
        if self._steps is None:
            return
        try:
            for _ in self._steps:
                if enough():
                    return
        except TfdbgError as error:
            self.error = error
        self._steps = None

    def _found(self) -> Iterator[float | None]:
        if self._options.query and self._command.steps is not None:
            yield from self._command.steps(self._context, self._options)
        if self._options.query == self._query:
            self._show(self.original)
            return
        answer = self._command.handler(self._context, self._options)
        assert isinstance(answer, Document), "a command that takes a query lists"
        self._show(Page(self._command.spell(self._options), answer, self.original.run, self.original.label))

    def _show(self, page: Page) -> None:
        self._pages.all[self._pages.at] = page

    def halt(self) -> None:
        """Look for no more rows."""
        self._steps = None

    def keep(self) -> None:
        """Keep the filtered list as a new page after the original one."""
        shown = self._pages.current
        self._show(self.original)
        if shown is not self.original:
            self._pages.open(shown)

    def take_back(self) -> None:
        """Show the list as it was."""
        self._steps = None
        self._show(self.original)
