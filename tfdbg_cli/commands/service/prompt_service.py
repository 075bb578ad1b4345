"""The prompt of one stop as a service: commands in, documents and decisions out, and pages to go back to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TextIO

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import answered, execute, moment_of, parsed_for, require_moment
from tfdbg_cli.commands.registry import Moment, Outcome, Registry
from tfdbg_cli.commands.service.pages import Page, Pages
from tfdbg_cli.commands.titles import StopKind, ignored_text, stop_kind, stop_title
from tfdbg_cli.commands.views.opening import opening_command
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.text import Line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened, RunEnd, Stop

# Rarely used modules are imported in the methods that need them, since the first screen waits for all imports above.
if TYPE_CHECKING:
    from tfdbg_cli.commands.completion import Completions
    from tfdbg_cli.commands.service.finding_here import FindingHere
    from tfdbg_cli.commands.service.following import Following
    from tfdbg_cli.commands.service.list_commands import ListCommands
    from tfdbg_cli.commands.service.narrowing import Narrowing
    from tfdbg_cli.commands.service.tensor_walk import Walk

_MOST_PAGES = 200
_SAVED = frozenset({"bundle", "save"})  # kinds of pages that say where a run was saved


class PromptService:
    """Carries out commands at one stop, for any front end: a screen, lines of text, a notebook.

    `width` is the terminal's in columns, None if output is not laid out for one; a front end updates it.
    `interactive` says whether a user is there to answer, `later` whether table cells can be filled in later.
    `way_back` is the page from which the stepper was begun, where the command carried out last has left it.
    `on_setting` is called with the new settings after a command has changed one. `filters` may grow meanwhile.
    `following` looks for runs that are written while a recording is open.
    """

    def __init__(
        self,
        stop: Stop,
        registry: Registry,
        settings: Settings | None = None,
        filters: Mapping[str, TensorFilter] = BUILT_IN_FILTERS,
        *,
        width: int | None = None,
        interactive: bool = True,
        later: bool = False,
        on_setting: Callable[[Settings], None] = lambda settings: None,
        most_pages: int = _MOST_PAGES,
    ) -> None:
        self.pages = Pages(most_pages)
        self.way_back: Page | None = None
        self._stepped_from: Page | None = None
        self._registry = registry
        self._context = Context(stop, settings or Settings(), filters, width, interactive, later, on_setting)

    # What is asked.

    def execute(self, text: str) -> Outcome:
        """Carry out the command string `text`.

        A Document is the answer, a Decision ends the stop, a UiAction is for the front end to do.

        Raises:
            TfdbgError: no such command here, wrong arguments, or what the command itself raises.

        """
        page = self.pages.current if self.pages.all else None
        self._context.on_show = None if page is None else (page.command, page.document)
        stepped = self._context.stepper is not None
        outcome = execute(text, self._context, self._registry)
        steps = self._context.stepper is not None
        self.way_back = self._stepped_from if stepped and not steps else None
        if steps and not stepped:
            self._stepped_from = page
        return outcome

    def talk_as_pdb(self, given: TextIO, shown: TextIO) -> None:
        """Run pdb at the call of the program that is looked at, reading from `given` and writing to `shown`.

        Raises:
            TfdbgError: the program is not stopped in the middle of a run.

        """
        from tfdbg_cli.commands.asked.current_frame import talk_as_pdb

        talk_as_pdb(self._context, given, shown)

    def steps(self, text: str) -> Iterator[float | None]:
        """Do the slow part of the command `text` in steps, so that `execute` is fast afterwards.

        Each step yields the share done (0 to 1), or None if that is not known. Many commands have no steps.

        Raises:
            TfdbgError: as `execute` does.

        """
        parsed = parsed_for(text, self._registry, self.moment)
        words = parsed.words
        command = self._registry.find(words[0], self.moment, words[1:]) if words else None
        if command is not None and command.steps is not None and answered(command, parsed, self._context) is None:
            require_moment(command, self._context)
            yield from command.steps(self._context, command.parse(words[1:]))

    def complete(self, text: str) -> Completions:
        """The completions at the end of `text`, a command string up to the cursor."""
        from tfdbg_cli.commands.completion import complete

        return complete(text, self._context, self._registry)

    def usage(self, text: str) -> str:
        """The usage line of the command that `text` begins with; empty if it begins with none."""
        words = text.split()
        known = bool(words) and words[0] in self._registry
        return self._registry.find(words[0], self.moment).usage if known else ""

    # Pages.

    def show(self, command: str, document: Document, *, replace: bool = False, label: str | None = None) -> Page:
        """Open a page with `document`, about the run looked at, after the current page or in its place.

                What the same command answers anew, about the same run, is shown in place of what it answered before.
        `label` names the run; by default its own label, for which it may have to be read.
        """
        page = Page(document.command or command, document, self.run, self.label if label is None else label)
        now = self.pages.current if self.pages.all else None
        anew = now is not None and (now.command, now.run) == (page.command, page.run)
        self.pages.open(page, replace=replace or anew)
        return page

    def go(self, at: int) -> bool:
        """Make the page numbered `at` (from 0) current, and look at its run; False if there is no such page."""
        if not self.pages.go(at):
            return False
        self.look_at(self.pages.current)
        return True

    def go_to(self, page: Page) -> None:
        """Make `page`, shown earlier at this stop, current; reopen it after the current one if it was dropped."""
        if page in self.pages.all:
            self.pages.go(self.pages.all.index(page))
        else:
            self.pages.open(page)
        self.look_at(page)

    def put_back(self, page: Page) -> None:
        """Go back to `page`, from which the current page was made; if it was dropped, it replaces the current one."""
        if page not in self.pages.all:
            self.pages.all[self.pages.at] = page
        self.go_to(page)

    def narrow(self) -> Narrowing:
        """Begin to narrow the list on the current page by a query.

        Raises:
            TfdbgError: it is no list that takes one.

        """
        from tfdbg_cli.commands.service.narrowing import Narrowing

        return Narrowing(self._context, self._registry, self.pages)

    @property
    def writing(self) -> str:
        """The beginning of the command string that writes the current page to a file.

        Raises:
            TfdbgError: what its command answers goes to none.

        """
        command = self.pages.current.command
        name = command.partition(" ")[0]
        if name in self._registry and self._registry.find(name, self.moment).verbatim:
            raise TfdbgError(f"What `{name}` answers goes to no file.", hint="Y copies a line.")
        return f"{command} > "

    @property
    def list_commands(self) -> ListCommands:
        """The command strings that show the list on the current page in other ways."""
        from tfdbg_cli.commands.service.list_commands import ListCommands

        return ListCommands(self.pages.current, self._registry, self.moment)

    def previews(self, chosen: str) -> tuple[str, ...]:
        """The command strings whose documents, one below another, preview the link `chosen` on the current page."""
        from tfdbg_cli.commands.service.previewing import previews_for

        return previews_for(self.pages.current.command, chosen, self._registry, self.moment)

    @property
    def has_previews(self) -> bool:
        """Whether there is a command that previews."""
        from tfdbg_cli.commands.service.previewing import has_previews

        return has_previews(self._registry)

    @property
    def walk(self) -> Walk:
        """Walks among the tensors of the run looked at."""
        from tfdbg_cli.commands.service.tensor_walk import Walk

        return Walk(self._context, self._registry)

    def said(self, text: str, *, error: bool) -> None:
        """Log a message that a front end showed for a moment only; the command `messages` lists them."""
        self._context.said.add(text, error=error)

    def marked(self) -> Callable[[], None]:
        """A function that restores the pages and the run looked at to their present state."""
        pages, run = self.pages.marked(), self.run

        def back() -> None:
            pages()
            self._context.current = run

        return back

    def ignoring(self, link: str, *, at_cause: bool) -> str:
        """The command string that ignores what is chosen on this page: the node or layer of `link`, or a cause.

        Raises:
            TfdbgError: it is none of these.

        """
        from tfdbg_cli.commands.views.ignored_places import ignoring_command

        page = self.pages.current
        return ignoring_command(self._registry, page.document.kind, page.command, link, at_cause=at_cause)

    def find(self, keys: Callable[[str], str]) -> FindingHere:
        """Begin a search by letters of names; `keys` maps the name of a command to the key that runs it, or "".

        Raises:
            TfdbgError: the run looked at cannot be read.

        """
        from tfdbg_cli.commands.service.finding_here import FindingHere

        return FindingHere(self._context, self._registry, keys)

    def spellings(self, name: str) -> Sequence[str]:
        """How the command called `name` may be written: its name and its aliases."""
        command = self._registry.find(name, self.moment)
        return (command.name, *command.aliases)

    def look_at(self, page: Page) -> None:
        """Look at the run that `page` is about."""
        self._context.current = page.run

    def shown_again(self, command: str) -> str:
        """The command string that shows, of the run looked at now, what `command` showed of another one.

        If `command` was not about a run, the one that shows a run first.

        Raises:
            TfdbgError: the run cannot be read.

        """
        from tfdbg_cli.commands.service.shown_again import shown_again

        return shown_again(command, self._context, self._registry)

    # Where the program stands.

    @property
    def moment(self) -> Moment:
        """The kind of stop, which says what commands there are."""
        return moment_of(self._context)

    @property
    def title(self) -> Line:
        """Which stop this is, and why the program stands there."""
        return stop_title(self._context)

    @property
    def ignored(self) -> str:
        """The end of the title that tells how many places a user ignores; empty where there are none."""
        return ignored_text(self._context)

    @property
    def kind(self) -> StopKind:
        """What the stop is about, in one word, by which a front end colours the title."""
        return stop_kind(self._context)

    @property
    def run(self) -> int:
        """The index of the run looked at, among those that can be looked at."""
        return self._context.current

    @property
    def label(self) -> str:
        """The run looked at, in short: `run #3`, of a job `run #3 of chief0`, `what if` of one with other values."""
        try:
            label = self._context.call.label
            return f"{label}, what if" if self._context.asks_what_if else label
        except TfdbgError:  # a recording without runs, or one that is gone
            return "no run"

    def happened(self, run: int) -> bool:
        """Whether the program ran the run at index `run`: it was not made with other values."""
        return run < len(self._context.runs_of_program)

    @property
    def graph(self) -> str:
        """Which graph the tensors belong to; "recording" in a recording, empty before a run."""
        if isinstance(self._context.stop, RunEnd):
            return self._context.run.graph_kind.value
        return "recording" if self.recording is not None else ""

    @property
    def recording(self) -> str | None:
        """The path of the recording that is open; None at a stop of a program."""
        stop = self._context.stop
        return stop.path if isinstance(stop, Opened) else None

    @property
    def sent(self) -> bool:
        """Whether the stop is at a run that a program elsewhere sent."""
        stop = self._context.stop
        return isinstance(stop, RunEnd) and stop.sent

    @property
    def at_unsaved_hit(self) -> bool:
        """Whether a watch stopped at the run, and that was saved neither by the watch nor at this stop."""
        stop = self._context.stop
        if not isinstance(stop, RunEnd) or stop.hit is None or (stop.watch is not None and stop.watch.bundle):
            return False
        return not any(page.document.kind in _SAVED for page in self.pages.all)

    @property
    def opened_by(self) -> Sequence[str]:
        """The words of tfdbg's command line that open this recording again; none at a stop of a program."""
        stop = self._context.stop
        return (*stop.opened_by, stop.path) if isinstance(stop, Opened) else ()

    @property
    def followed(self) -> bool:
        """Whether a recording is open that is followed while it is written."""
        stop = self._context.stop
        return isinstance(stop, Opened) and stop.growing is not None

    @cached_property
    def following(self) -> Following:
        """The runs that are written meanwhile."""
        from tfdbg_cli.commands.service.following import Following

        return Following(self._context)

    @property
    def notes(self) -> Sequence[str]:
        """Sentences about what was done at a stop after a run; elsewhere empty, as the first page shows the notes."""
        stop = self._context.stop
        return stop.notes if isinstance(stop, RunEnd) else ()

    @property
    def unseen_notes(self) -> Sequence[str]:
        """All notes of the stop, for a front end that does not show the first page."""
        return self._context.stop.notes

    @property
    def opening(self) -> str:
        """The command string whose answer is to be shown first."""
        return opening_command(self._context.stop)

    @property
    def watching_on(self) -> str:
        """The command string that runs on until a tensor is NaN or infinite, as at the last watch."""
        from tfdbg_cli.commands.asked.watch_decision import watch_on

        stop = self._context.stop
        return watch_on(None if isinstance(stop, Opened) else stop.watch)

    # What a front end sets.

    @property
    def width(self) -> int | None:
        return self._context.width

    @width.setter
    def width(self, columns: int | None) -> None:
        self._context.width = columns

    @property
    def settings(self) -> Settings:
        """The settings that hold now. Those that a front end sets hold for this stop and are not kept in the file."""
        return self._context.settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        self._context.settings = settings
