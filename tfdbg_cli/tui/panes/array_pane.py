"""The pane of an array being looked at: its viewer drawn, and what keys do to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from urwid.util import get_encoding

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.array.plane import Plane
from tfdbg_cli.tui.array.surface import Surface
from tfdbg_cli.tui.array.viewer import Viewer, ViewMode
from tfdbg_cli.tui.keys.array_keys import ARRAY_BINDINGS
from tfdbg_cli.tui.keys.keymap import Binding, KeyContext
from tfdbg_cli.tui.reading.paint import assemble, attribute
from tfdbg_cli.tui.state.pane import Drawing, Pane
from tfdbg_cli.tui.state.state import ScreenState
from tfdbg_cli.tui.terminal.theme import THEMES

_MOVES = {"down": (1, 0), "up": (-1, 0), "right": (0, 1), "left": (0, -1)}
_PAGES = {"page-down": 1.0, "page-up": -1.0, "half-down": 0.5, "half-up": -0.5}
_SIGHTS = {"first-in-sight": 0.0, "middle-in-sight": 0.5, "last-in-sight": 1.0}
_TURNS: dict[str, Callable[[Plane], Plane]] = {
    "step": lambda plane: plane.step(1),
    "step-back": lambda plane: plane.step(-1),
    "axis": lambda plane: plane.stepping(1),
    "axis-back": lambda plane: plane.stepping(-1),
    "swap": Plane.swapped,
    "turn": Plane.turned,
}
_STEPS = frozenset({"pane:step", "pane:step-back"})
_FAR_ENDS = {"top": (True, False), "bottom": (True, True), "first": (False, False), "last": (False, True)}
_MODES = {mode.value: mode for mode in ViewMode}
_ENDS = {
    "step": "There is no further step.",
    "step-back": "There is no step before.",
    "axis": "There is no other axis to step along.",
    "axis-back": "There is no other axis to step along.",
}


class ArrayPane(Pane):
    """The viewer of the page on show."""

    bindings = ARRAY_BINDINGS

    def __init__(self, state: ScreenState, actions: Actions) -> None:
        super().__init__()
        self._state = state
        self._actions = actions

    @property
    def keys(self) -> tuple[Binding, ...]:
        return tuple(binding for binding in self.bindings if self._deep or binding.action not in _STEPS)

    @property
    def _deep(self) -> bool:
        """Whether there is an axis to step along: without one, < and > mean what they do elsewhere."""
        return self._viewer.array.ndim > 2

    @property
    def _viewer(self) -> Viewer:
        viewer = self._state.viewed
        assert viewer is not None, "the page is on show as text"
        return viewer

    def draw(self, cols: int, rows: int) -> Drawing:
        state = self._state
        colors = state.colors if state.service.settings.theme in THEMES else 1
        surface = Surface(cols, rows, colors, get_encoding().startswith("utf"))
        drawn = self._viewer.draw(surface)
        painted = [
            assemble([(text, attribute(*look)) for text, look in row], cols, attribute()) for row in drawn.rows
        ]
        self._actions.go_on()  # what the drawing needs may not be counted yet
        return Drawing(painted, drawn.cursor)

    def scroll(self, lines: int) -> bool:
        self._viewer.move(lines, 0)
        return True

    def press(self, col: int, row: int) -> None:
        """Put the cursor where the mouse is, where that is an element."""
        if self._state.place is not KeyContext.DOCUMENT:
            self._actions.close()
        self._viewer.press(col, row)

    def perform(self, name: str) -> None:
        self._viewer.jumps.forget()
        self._viewer.jumps.halted = False
        self._done(name)
        self._actions.go_on()

    def _done(self, name: str) -> None:
        viewer = self._viewer
        moved = True
        if name in _MOVES:
            moved = viewer.move(*_MOVES[name])
        elif name in _PAGES:
            moved = viewer.page(_PAGES[name])
        elif name in _SIGHTS:
            viewer.in_sight(_SIGHTS[name])
        elif name in _FAR_ENDS:
            moved = viewer.end(*_FAR_ENDS[name])
        elif name in _TURNS:
            moved = viewer.turn(_TURNS[name])
        elif name in _MODES:
            viewer.show(_MODES[name])
        else:
            self._others(viewer)[name]()
        if not moved and name in _ENDS:
            raise TfdbgError(_ENDS[name], hint="X shows other axes.")

    def _others(self, viewer: Viewer) -> dict[str, Callable[[], None]]:
        style = viewer.style
        return {
            "text": self._text,
            "next-nonfinite": partial(viewer.jumps.to_nonfinite, ahead=True),
            "previous-nonfinite": partial(viewer.jumps.to_nonfinite, ahead=False),
            "maximum": partial(viewer.jumps.to_extreme, highest=True),
            "minimum": partial(viewer.jumps.to_extreme, highest=False),
            "finer": partial(viewer.restyle, style.finer(1)),
            "coarser": partial(viewer.restyle, style.finer(-1)),
            "scientific": partial(viewer.restyle, replace(style, scientific=not style.scientific)),
            "suppress": partial(viewer.restyle, replace(style, suppress=not style.suppresses)),
            "threshold": viewer.shorten,
            "copy": lambda: self._actions.clipboard.put(viewer.element),
            "copy-place": lambda: self._actions.clipboard.put(f"{viewer.name}{list(viewer.here)}"),
            "set": lambda: self._actions.ask(f"set {viewer.place} "),
        }

    def _text(self) -> None:
        """The page as text, at the line that shows the element, where it is not left out."""
        here = self._viewer.here
        self._state.viewers.leave(self._state.pages.current)
        page = self._state.page
        line = page.view.find_element(here) if page.shows(here) else None
        if line is not None:
            page.view.go(line, centre=True)
