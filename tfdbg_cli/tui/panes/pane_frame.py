"""A pane where it stands with others: its title above it, a border between two."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import urwid

from tfdbg_cli.document.cells import clip, display_width
from tfdbg_cli.document.text import Span, Style, line
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.tui.reading.paint import cell, paint
from tfdbg_cli.tui.state.pane import Drawing, Pane
from tfdbg_cli.tui.state.state import ScreenState


class PaneFrame(urwid.WidgetWrap[urwid.Widget]):
    """A pane under its title, if it is `titled`; a click gives it the focus.

    `ruled` makes a rule of the title, where that is the border to the pane above. `given_up` says what stands in the
    place of a pane that cannot be drawn, or raises the error.
    """

    no_cache: ClassVar[list[str]] = ["render"]

    def __init__(
        self,
        pane: Pane,
        state: ScreenState,
        given_up: Callable[[Pane, Exception], Pane],
        *,
        ruled: bool = False,
        titled: bool = True,
    ) -> None:
        self._pane = pane
        self._state = state
        self._given_up = given_up
        self._ruled = ruled
        self._titled = titled
        super().__init__(self._framed())

    def render(self, size: tuple[int, int], focus: bool = False) -> urwid.Canvas:  # type: ignore[override]
        try:
            return super().render(size, focus)
        except our_errors() as error:  # a bug in a pane must not take the screen away
            self._pane = self._given_up(self._pane, error)
            self._pane.fit(size[0], size[1] - self._titled)
            self._w = self._framed()
            return super().render(size, focus)

    def mouse_event(  # type: ignore[override]
        self, size: tuple[int, int], event: str, button: int, col: int, row: int, focus: bool
    ) -> bool | None:
        if button == 1:
            self._state.focus = self._pane
        return super().mouse_event(size, event, button, col, row, focus)

    def _framed(self) -> urwid.Widget:
        if not self._titled:
            return self._pane
        title = _Title(self._pane, self._state, ruled=self._ruled)
        return urwid.Pile([(1, title), self._pane], focus_item=1)


class _Title(Pane):
    def __init__(self, pane: Pane, state: ScreenState, *, ruled: bool) -> None:
        super().__init__()
        self._pane = pane
        self._state = state
        self._ruled = ruled

    def draw(self, cols: int, rows: int) -> Drawing:
        style = Style.TITLE if self._state.focus is self._pane else Style.DIM
        if not self._ruled:
            title = clip(f" {self._pane.title}", cols)
            return Drawing([paint(line(Span(title, style)), cols, base="crumbs")])
        title = clip(f" {self._pane.title} ", cols - 2)
        rest = "─" * (cols - 2 - display_width(title))
        return Drawing([paint(line(Span("──", Style.DIM), Span(title, style), Span(rest, Style.DIM)), cols)])


class Border(Pane):
    """The column between two panes."""

    def draw(self, cols: int, rows: int) -> Drawing:
        return Drawing([cell("│", Style.DIM)] * rows)
