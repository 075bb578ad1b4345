"""The whole screen as one widget: panes above one another, and a dialog over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import urwid

from tfdbg_cli.document.text import Line, line
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.actions.find_dialog import FindDialog
from tfdbg_cli.tui.keys.keymap import KeyContext
from tfdbg_cli.tui.panes.arrangement import ALONE
from tfdbg_cli.tui.panes.bar_panes import Candidates, Crumbs, Footer, PromptLine, StatusBar, TitleBar
from tfdbg_cli.tui.panes.dialog_pane import DialogPane
from tfdbg_cli.tui.panes.document_pane import MARGINS
from tfdbg_cli.tui.panes.find_pane import FindPane
from tfdbg_cli.tui.panes.layout import MIN_COLS, MIN_ROWS, ScreenLayout, layout_for
from tfdbg_cli.tui.panes.workspace import Workspace
from tfdbg_cli.tui.reading.paint import canvas, paint
from tfdbg_cli.tui.state.pane import Drawing, Pane
from tfdbg_cli.tui.state.state import ScreenState

_BUTTONS = {4: "wheel up", 5: "wheel down"}


class View(urwid.Widget):
    """All panes, laid out anew for each frame, since status and candidates take what they need.

    `on_key` gets every key, `on_click` every click with its place, `on_bug` what went wrong while drawing: it
    changes the state to something that can be drawn.
    """

    _sizing = frozenset([urwid.BOX])
    _selectable = True
    no_cache: ClassVar[list[str]] = ["render"]

    def __init__(
        self,
        state: ScreenState,
        actions: Actions,
        on_key: Callable[[str], None],
        on_click: Callable[[str, int, int], None],
        on_bug: Callable[[str, Exception], None],
    ) -> None:
        super().__init__()
        self._state = state
        self._actions = actions
        self._on_key = on_key
        self._on_click = on_click
        self._on_bug = on_bug
        self._workspace = Workspace(state, actions)
        self._title = TitleBar(state, actions)
        self._crumbs = Crumbs(state, actions)
        self._candidates = Candidates(state)
        self._status = StatusBar(state)
        self._prompt = PromptLine(state, actions)
        self._footer = Footer(state, actions)
        self.size = (80, 24)
        self.layout: ScreenLayout | None = None
        self._arrangement = ALONE
        self._too_small = _TooSmall(actions)
        self._panes: urwid.Widget = self._too_small
        self._arranged: tuple[object, ...] = ()  # what `_panes` was made for
        self._drawn: urwid.Canvas | None = None  # the panes as they were drawn last

    def keypress(self, size: tuple[int, int], key: str) -> str | None:  # type: ignore[override]
        """Hand the key on; every key is taken."""
        self._on_key(key)
        return None

    def mouse_event(  # type: ignore[override]
        self, size: tuple[int, int], event: str, button: int, col: int, row: int, focus: bool
    ) -> bool:
        """Hand on presses, turns of the wheel, that something was dragged, and that a button was let go."""
        if event.endswith("mouse press"):
            self._on_click(_BUTTONS.get(button, f"button {button}"), col, row)
        elif event.endswith("mouse drag"):
            self._on_click("drag", col, row)
        elif event.endswith("mouse release"):
            self._on_click("release", col, row)
        return True

    def press(self, col: int, row: int, button: int = 1) -> bool:
        """Give a press of the mouse to the pane at its place; False where nobody wants it."""
        dialog = self._dialog()
        if dialog is None:
            return bool(self._panes.mouse_event(self.size, "mouse press", button, col, row, True))
        place = dialog.place(*self.size)
        inside = place.holds(col, row)
        if inside:
            dialog.mouse_event(
                (place.cols, place.rows), "mouse press", button, col - place.left, row - place.top, True
            )
        return inside

    def render(self, size: tuple[int, int], focus: bool = False) -> urwid.Canvas:  # type: ignore[override]
        """The screen at `size`. A bug in drawing it is drawn instead."""
        self.size = size
        try:
            return self._render(size)
        except our_errors() as error:  # a bug in a document must not take the screen away
            self._on_bug("drawing the screen", error)
            return self._render(size)

    def busy(self, size: tuple[int, int], words: str) -> urwid.Canvas:
        """The last screen with `words` in its status row; touches nothing else of the state."""
        under = self._drawn
        if under is None or (under.cols(), under.rows()) != size:  # nothing was drawn yet, or at another size
            under = canvas([paint(Line(), size[0])] * size[1], size[0])
        layout = layout_for(*size)
        notice = canvas([paint(line(f" {words}"), size[0], base="message")], size[0])
        row = layout.prompt_row - 1 if layout else 0
        under = urwid.CompositeCanvas(under)
        under.cursor = None
        return urwid.CanvasOverlay(urwid.CompositeCanvas(notice), under, 0, row)

    @property
    def page_cols(self) -> int:
        """The columns that the page has for its lines on a screen of the present size."""
        arrangement = self._workspace.arrangement(*self.size)
        layout = layout_for(*self.size, shares=arrangement.shares, stacked=arrangement.stacked)
        if layout is None or 0 not in arrangement.numbers:
            return self.size[0] - MARGINS
        return layout.panes[arrangement.numbers.index(0)].cols - MARGINS

    @property
    def running(self) -> bool:
        """Whether a pane has something left to do between two keys."""
        return self.layout is not None and self._workspace.running(self._arrangement)

    def work(self, enough: Callable[[], bool]) -> None:
        """Let the panes go on until it is `enough`."""
        if self.layout is not None:
            self._workspace.work(self._arrangement, enough)

    @property
    def looks_ahead(self) -> bool:
        """Whether the pane with the focus can get ready for the next key."""
        return self.layout is not None and self._workspace.looks_ahead(self._arrangement)

    def look_ahead(self, enough: Callable[[], bool]) -> None:
        """Let it do so until it is `enough`."""
        self._workspace.look_ahead(enough)

    def on_border(self, col: int, row: int) -> bool:
        """Whether the place is on the border between two panes."""
        return self.layout is not None and self._dialog() is None and self.layout.on_border(col, row)

    def dragged(self, col: int, row: int) -> int:
        """The share in percent that the panes beside the page get when that border is dragged to a place."""
        assert self.layout is not None, "there is a border"
        return self._workspace.dragged(self.layout, self._arrangement, col, row)

    @property
    def too_small(self) -> bool:
        """Whether there is no room for anything."""
        cols, rows = self.size
        return cols < MIN_COLS or rows < MIN_ROWS

    def arrange(self, size: tuple[int, int]) -> None:
        """Work out the layout for `size`, and fit the panes into it."""
        cols, rows = size
        status = self._status.wanted(cols) if cols >= MIN_COLS else 1
        arrangement = self._arrangement = self._workspace.arrangement(cols, rows)
        layout = self.layout = layout_for(
            cols,
            rows,
            status,
            self._candidates.wanted(cols),
            arrangement.shares,
            stacked=arrangement.stacked,
        )
        if layout is not None:
            self._workspace.fit(layout, arrangement)
        typing = self._state.place in {KeyContext.PROMPT, KeyContext.SEARCH, KeyContext.FILTER}
        wanted = (layout, typing, self._state.focus, *self._workspace.panes(arrangement))
        if wanted != self._arranged:
            self._panes = self._stacked(layout, typing=typing) if layout is not None else self._too_small
            self._arranged = wanted

    def _stacked(self, layout: ScreenLayout, *, typing: bool) -> urwid.Widget:
        """The panes above one another, the focus on the one whose cursor is to be seen."""
        body = self._workspace.widget(layout, self._arrangement)
        return urwid.Pile(
            [
                (1, self._title),
                (layout.crumbs, self._crumbs),
                (layout.body, body),
                (layout.candidates, self._candidates),
                (layout.status, self._status),
                (1, self._prompt),
                (layout.footer, self._footer),
            ],
            focus_item=self._prompt if typing else body,
        )

    def _render(self, size: tuple[int, int]) -> urwid.Canvas:
        self.arrange(size)
        dialog = self._dialog()
        drawn = self._drawn = self._panes.render(size, focus=dialog is None)
        if dialog is None:
            return drawn
        place = dialog.place(*size)
        over = dialog.render((place.cols, place.rows), focus=True)
        return urwid.CanvasOverlay(urwid.CompositeCanvas(over), urwid.CompositeCanvas(drawn), place.left, place.top)

    def _dialog(self) -> DialogPane | None:
        """The dialog that is open, where there is room for one."""
        opened = self._state.dialog
        if opened is None or self.layout is None:
            return None
        return (
            FindPane(opened, self._actions) if isinstance(opened, FindDialog) else DialogPane(opened, self._actions)
        )


class _TooSmall(Pane):
    """What there is to see where nothing fits."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions = actions

    def draw(self, cols: int, rows: int) -> Drawing:
        words = self._actions.small_screen.words((MIN_COLS, MIN_ROWS), (cols, rows))
        width = max(1, cols)
        pieces = [words[i : i + width] for i in range(0, len(words), width)]
        return Drawing([paint(line(piece), cols) for piece in pieces[:rows]])
