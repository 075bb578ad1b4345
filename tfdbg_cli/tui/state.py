"""All that the screen shows, in one place: the app changes it, the view draws it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tfdbg_cli.commands.context import Context
from tfdbg_cli.tui.bars import Message
from tfdbg_cli.tui.keymap import KeyContext
from tfdbg_cli.tui.line_editor import LineEditor
from tfdbg_cli.tui.pages import Page, Pages
from tfdbg_cli.tui.prompt import Prompt
from tfdbg_cli.tui.viewport import Viewport


@dataclass
class Dialog:
    """Something open over the document: its title and its lines."""

    title: str
    view: Viewport


@dataclass
class State:
    """The state of the screen at one stop. `place` says where keys go; a dialog is open at KEYS and LEAVE.

    `hint` is the usage of the command being typed.
    """

    context: Context
    prompt: Prompt
    mouse: bool
    pages: Pages = field(default_factory=Pages)
    sought: LineEditor = field(default_factory=LineEditor)
    place: KeyContext = KeyContext.DOCUMENT
    message: Message | None = None
    hint: str = ""
    dialog: Dialog | None = None

    @property
    def page(self) -> Page:
        """The screen on show."""
        return self.pages.current

    @property
    def front(self) -> Viewport:
        """What movement keys move in: the dialog, or the document under it."""
        return self.dialog.view if self.dialog else self.page.view
