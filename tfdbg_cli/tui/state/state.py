"""All that the screen shows, in one place: the app changes it, the view draws it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tfdbg_cli.commands.service.pages import Pages
from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.document.document import Document
from tfdbg_cli.tui.array.viewer import Viewer
from tfdbg_cli.tui.keys.keymap import Binding, KeyContext
from tfdbg_cli.tui.reading.reading import Reading, Readings
from tfdbg_cli.tui.reading.seeker import Seeker
from tfdbg_cli.tui.reading.viewport import Viewport
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.changes import Changes
from tfdbg_cli.tui.state.line_editor import LineEditor
from tfdbg_cli.tui.state.live_filter import LiveFilter
from tfdbg_cli.tui.state.pane import Pane
from tfdbg_cli.tui.state.pending import PendingAnswer
from tfdbg_cli.tui.state.prompt import TypedPrompt
from tfdbg_cli.tui.state.viewing import Viewers


@dataclass
class Dialog:
    """Something open over the document: its title and its lines."""

    title: str
    view: Viewport

    @property
    def status(self) -> str:
        """What the status row says while it is open."""
        return self.title

    @property
    def unfinished(self) -> bool:
        """Whether it has work left that goes on between two keys."""
        return False

    def work(self, enough: Callable[[], bool]) -> None:
        """Go on with that work until `enough`."""


@dataclass
class ScreenState:
    """The state of the screen at one stop. `place` says where keys go; a dialog is open at KEYS, LEAVE, GO_ON, FIND.

    `hint` is the usage of the command being typed, `filter` the filter of a list being typed, `pending` the answer
    being made, `report` the report of the last bug of tfdbg's own, `colors` the number of colours of the terminal.
    `panes` are the panes in the middle, in order, and `focus` is the one that gets the keys of a document; `zoomed`
    shows it alone. `room_from` says which size of screen has room for a second pane, if this one has not. `begun` is
    the first key of an unfinished sequence, `count` the count typed before a key (0: none), `letter` the action that
    waits for a letter, `user_keys` are the key bindings in the settings. `printed` says that the program has
    written something that was not looked at yet. `changes` are what `U` undoes, `last_action` is what `.` repeats.
    """

    service: PromptService
    prompt: TypedPrompt
    mouse: bool
    readings: Readings = field(default_factory=Readings)
    viewers: Viewers = field(default_factory=Viewers)
    sought: LineEditor = field(default_factory=LineEditor)
    place: KeyContext = KeyContext.DOCUMENT
    filter: LiveFilter | None = None
    pending: PendingAnswer | None = None
    message: Message | None = None
    hint: str = ""
    dialog: Dialog | None = None
    focus: Pane | None = None
    report: str = ""
    colors: int = 1
    begun: str = ""
    user_keys: tuple[Binding, ...] = ()
    panes: tuple[Pane, ...] = ()
    zoomed: bool = False
    room_from: str = ""
    count: int = 0
    letter: str = ""
    printed: bool = False
    changes: Changes = field(default_factory=Changes)
    last_action: str = ""

    @property
    def pages(self) -> Pages:
        return self.service.pages

    @property
    def page(self) -> Reading:
        """The page on show."""
        return self.readings.of(self.pages.current)

    @property
    def read(self) -> Reading:
        """What keys move and search in: the document of the pane with the focus, or the page if that has none."""
        found = self.focus.reading if self.focus is not None else None
        return found or self.page

    @property
    def viewed(self) -> Viewer | None:
        """The array viewer in which the current page is shown; None if it is shown as text."""
        return self.viewers.of(self.pages.current) if self.pages.all else None

    @property
    def viewer(self) -> Viewer | None:
        """The viewer that keys go to; None where they go to a document."""
        return self.viewed if self.pages.all and self.read is self.page else None

    @property
    def seeker(self) -> Seeker:
        """The search that keys go on with: in the viewer, or else in the document that is read."""
        viewer = self.viewer
        return self.read.seeker if viewer is None else viewer.jumps

    @property
    def escapes(self) -> bool:
        """Whether Esc leads anywhere in a document: out of what is going on, or back."""
        if self.pending is not None:
            return True
        if not self.pages.all:
            return False
        way_back = self.pages.at > 0 or (self.read is self.page and self.viewers.leads_back(self.pages.current))
        return way_back or self.seeker.active

    @property
    def front(self) -> Viewport:
        """What movement keys move in: the dialog, or the document under it."""
        return self.dialog.view if self.dialog else self.read.view

    def open_dialog(self, document: Document, place: KeyContext) -> None:
        """Open `document` over the panes; keys go to `place`."""
        self.dialog = Dialog(document.title, Viewport(document))
        self.place = place

    @property
    def own_bindings(self) -> tuple[Binding, ...]:
        """The bindings of the pane with the focus, then those of the settings, less the keys that the pane takes."""
        pane = self.focus.keys if self.focus is not None else ()
        taken = {key for binding in pane for key in binding.keys}
        return (*pane, *(binding for binding in self.user_keys if taken.isdisjoint(binding.keys)))
