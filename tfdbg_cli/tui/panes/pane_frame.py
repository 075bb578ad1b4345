"""A pane where it stands beside others: its title above it, a border between two."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import urwid

from tfdbg_cli.document.cells import clip
from tfdbg_cli.document.text import Span, Style, line
from tfdbg_cli.tui.control.pane import Drawing, Pane
from tfdbg_cli.tui.control.state import State
from tfdbg_cli.tui.reading.paint import cell, paint


class PaneFrame(urwid.WidgetWrap[urwid.Widget]):
    """A pane under its title; a click gives it the focus.

    `given_up` says what stands in the place of a pane that cannot be drawn, or raises the error.
    """

    no_cache: ClassVar[list[str]] = ["render"]

    def __init__(self, pane: Pane, state: State, given_up: Callable[[Pane, Exception], Pane]) -> None:
        super().__init__(_titled(pane, state))
        self._pane = pane
        self._state = state
        self._given_up = given_up

    def render(self, size: tuple[int, int], focus: bool = False) -> urwid.Canvas:  # type: ignore[override]
        try:
            return super().render(size, focus)
        except Exception as error:  # noqa: BLE001  # a bug in a pane must not take the screen away
            self._pane = self._given_up(self._pane, error)
            self._pane.fit(size[0], size[1] - 1)
            self._w = _titled(self._pane, self._state)
            return super().render(size, focus)

    def mouse_event(  # type: ignore[override]
        self, size: tuple[int, int], event: str, button: int, col: int, row: int, focus: bool
    ) -> bool | None:
        if button == 1:
            self._state.focus = self._pane
        return super().mouse_event(size, event, button, col, row, focus)


def _titled(pane: Pane, state: State) -> urwid.Pile:
    return urwid.Pile([(1, _Title(pane, state)), pane], focus_item=1)


class _Title(Pane):
    def __init__(self, pane: Pane, state: State) -> None:
        super().__init__()
        self._pane = pane
        self._state = state

    def draw(self, cols: int, rows: int) -> Drawing:
        style = Style.TITLE if self._state.focus is self._pane else Style.DIM
        return Drawing([paint(line(Span(clip(f" {self._pane.title}", cols), style)), cols, base="crumbs")])


class Border(Pane):
    """The column between two panes."""

    def draw(self, cols: int, rows: int) -> Drawing:
        return Drawing([cell("│", Style.DIM)] * rows)
