"""All that the screen shows, in one place: the app changes it, the view draws it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tfdbg_cli.commands.service.pages import Pages
from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.document.document import Document
from tfdbg_cli.tui.array.viewer import Viewer
from tfdbg_cli.tui.control.bars import Message
from tfdbg_cli.tui.control.changes import Changes
from tfdbg_cli.tui.control.keymap import Binding, KeyContext
from tfdbg_cli.tui.control.line_editor import LineEditor
from tfdbg_cli.tui.control.live_filter import LiveFilter
from tfdbg_cli.tui.control.pane import Pane
from tfdbg_cli.tui.control.pending import Pending
from tfdbg_cli.tui.control.prompt import Prompt
from tfdbg_cli.tui.control.viewing import Viewers
from tfdbg_cli.tui.reading.reading import Reading, Readings
from tfdbg_cli.tui.reading.seeker import Seeker
from tfdbg_cli.tui.reading.viewport import Viewport


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
class State:
    """The state of the screen at one stop. `place` says where keys go; a dialog is open at KEYS, LEAVE and FIND.

    `hint` is the usage of the command being typed, `filter` that of a list while it is typed, `pending` the answer
    that is being made, `focus` the pane that keys of a document go to, `report` what there is to say of the last
    mistake of tfdbg's own, `colors` how many the terminal has, `begun` the first key of a sequence that is being
    pressed, `person_keys` what keys mean by the settings. `panes` are those that stand in the middle, in their order;
    while it is `zoomed` the one with the focus stands alone; `room_from` says from which size on there is room for
    several, where there is none. `count` is how often the next key is meant, 0 where that was not said, `letter` the
    action that waits for a letter, `printed` whether the program wrote something that nobody has seen yet, `changes`
    what `U` takes back, `last_action` what `.` does again.
    """

    service: PromptService
    prompt: Prompt
    mouse: bool
    readings: Readings = field(default_factory=Readings)
    viewers: Viewers = field(default_factory=Viewers)
    sought: LineEditor = field(default_factory=LineEditor)
    place: KeyContext = KeyContext.DOCUMENT
    filter: LiveFilter | None = None
    pending: Pending | None = None
    message: Message | None = None
    hint: str = ""
    dialog: Dialog | None = None
    focus: Pane | None = None
    report: str = ""
    colors: int = 1
    begun: str = ""
    person_keys: tuple[Binding, ...] = ()
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
        """The document that keys move and search in: that of the pane with the focus, if it has one, or the page."""
        found = self.focus.reading if self.focus is not None else None
        return found or self.page

    @property
    def viewed(self) -> Viewer | None:
        """The viewer in which the page is on show; None where it is on show as text."""
        return self.viewers.of(self.pages.current) if self.pages.all else None

    @property
    def viewer(self) -> Viewer | None:
        """The viewer that keys go to; None where they go to a document."""
        return self.viewed if self.pages.all and self.read is self.page else None

    @property
    def finder(self) -> Seeker:
        """The search that keys go on with: in the viewer, or else in the document that is read."""
        viewer = self.viewer
        return self.read.finder if viewer is None else viewer.jumps

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
        """The keys that only the pane with the focus has, and then those of the person's own."""
        pane = self.focus.keys if self.focus is not None else ()
        taken = {key for binding in pane for key in binding.keys}
        return (*pane, *(binding for binding in self.person_keys if taken.isdisjoint(binding.keys)))
