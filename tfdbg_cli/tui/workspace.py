"""The panes that share the middle of the screen: which there are, how they stand, which has the focus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import urwid

from tfdbg_cli.document.cells import clip
from tfdbg_cli.document.text import Span, Style, line
from tfdbg_cli.tui.actions import Actions
from tfdbg_cli.tui.layout import Layout
from tfdbg_cli.tui.page_pane import PagePane
from tfdbg_cli.tui.paint import cell, paint
from tfdbg_cli.tui.pane import Drawing, Pane
from tfdbg_cli.tui.state import State


@dataclass(frozen=True, slots=True)
class PaneKind:
    """A kind of pane: what makes it, its share of the width, and the columns from which a screen has room for it."""

    make: Callable[[State, Actions], Pane]
    share: int = 1
    from_cols: int = 0


# From left to right. One line a kind; the page stands on every screen.
KINDS: tuple[PaneKind, ...] = (PaneKind(PagePane, share=3),)


class Workspace:
    """The panes of one screen. A pane without room is not shown, and gives the focus back to the first one."""

    def __init__(self, state: State, actions: Actions) -> None:
        self._state = state
        self._panes = [(kind, kind.make(state, actions)) for kind in KINDS]
        state.focus = self._panes[0][1]

    def shares(self, cols: int) -> tuple[int, ...]:
        """The shares of the panes that a screen of `cols` columns shows."""
        return tuple(kind.share for kind, _ in self._shown(cols))

    def _shown(self, cols: int) -> list[tuple[PaneKind, Pane]]:
        return [(kind, pane) for kind, pane in self._panes if cols >= kind.from_cols]

    def fit(self, layout: Layout) -> None:
        """Fit each pane into its rectangle of `layout`."""
        panes = [pane for _, pane in self._shown(layout.cols)]
        if self._state.focus not in panes:
            self._state.focus = panes[0]
        for pane, place in zip(panes, layout.panes, strict=True):
            pane.fit(place.cols, place.rows)

    def widget(self, layout: Layout) -> urwid.Widget:
        """The panes side by side in their rectangles, the focus on the one that has it."""
        panes = [pane for _, pane in self._shown(layout.cols)]
        if len(panes) == 1:
            return panes[0]
        columns: list[tuple[int, urwid.Widget]] = []
        for pane, place in zip(panes, layout.panes, strict=True):
            columns += [(1, _Border())] * bool(columns)
            columns.append((place.cols, _Place(pane, self._state)))
        at = next(n for n, pane in enumerate(panes) if pane is self._state.focus)
        return urwid.Columns(columns, focus_column=2 * at)


class _Place(urwid.WidgetWrap[urwid.Widget]):
    """A pane beside others: under its title, and given the focus by a click."""

    def __init__(self, pane: Pane, state: State) -> None:
        super().__init__(urwid.Pile([(1, _Title(pane, state)), pane], focus_item=1))
        self._pane = pane
        self._state = state

    def mouse_event(  # type: ignore[override]
        self, size: tuple[int, int], event: str, button: int, col: int, row: int, focus: bool
    ) -> bool | None:
        if button == 1:
            self._state.focus = self._pane
        return super().mouse_event(size, event, button, col, row, focus)


class _Title(Pane):
    def __init__(self, pane: Pane, state: State) -> None:
        super().__init__()
        self._pane = pane
        self._state = state

    def draw(self, cols: int, rows: int) -> Drawing:
        style = Style.TITLE if self._state.focus is self._pane else Style.DIM
        return Drawing([paint(line(Span(clip(f" {self._pane.title}", cols), style)), cols, base="crumbs")])


class _Border(Pane):
    def draw(self, cols: int, rows: int) -> Drawing:
        return Drawing([cell("│", Style.DIM)] * rows)
