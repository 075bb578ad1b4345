"""Command strings that show the list on a page in another way: worst first, folded, or counted by value."""

from __future__ import annotations

from tfdbg_cli.analysis.choosing.tensor_query import SortKey
from tfdbg_cli.commands.folds import EVERY, fold_command
from tfdbg_cli.commands.registry import Command, Moment, Registry
from tfdbg_cli.commands.service.narrowing import list_words
from tfdbg_cli.commands.service.pages import Page
from tfdbg_cli.commands.syntax import parse_line, quoted
from tfdbg_cli.errors import TfdbgError

_WORST = str(SortKey.WORST)
_COUNTED = frozenset({"list_tensors", "frequencies"})  # commands whose query chooses among all tensors


class ListCommands:
    """Builds command strings for the list on `page`, from the commands in `registry` at `moment`."""

    def __init__(self, page: Page, registry: Registry, moment: Moment) -> None:
        self._page = page
        self._registry = registry
        self._moment = moment

    def worst_first(self) -> str:
        """Sort the list worst first; if it is sorted so already, in order of execution.

        Raises:
            TfdbgError: the page is no list with that order.

        """
        words = list_words(self._page)
        command = self._found(words[0])
        if command is None or not any(_WORST in argument.choices for argument in command.arguments):
            raise TfdbgError("This is no list of tensors.", hint="`lt -s worst` lists them, the worst on top.")
        options = command.parse(words[1:])
        is_so = options.sort_by == _WORST and not options.reverse
        return command.spell(options, sort_by="timestamp" if is_so else _WORST, reverse=False)

    def counted(self) -> str:
        """Count the values of each column (`frequencies`), over the tensors that match the page's query."""
        words = list_words(self._page)
        command = self._found(words[0])
        query = command.parse(words[1:]).query if command is not None and command.name in _COUNTED else ""
        return f"frequencies -q {quoted(query)}" if query else "frequencies"

    def folded(self, is_open: bool) -> str:
        """Fold every scope of the list if `is_open`, else unfold every scope.

        Raises:
            TfdbgError: the page has no scopes.

        """
        words = parse_line(self._page.command).words
        found = self._found(words[0]) if words else None
        if found is None or not any("--unfold" in argument.flags for argument in found.arguments):
            raise TfdbgError("Nothing folds here.", hint="`layers` and `tree` have scopes that do.")
        return fold_command(self._page.command, EVERY, is_open)

    def _found(self, name: str) -> Command | None:
        return self._registry.find(name, self._moment) if name in self._registry else None
