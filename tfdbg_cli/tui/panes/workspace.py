"""The panes that share the middle of the screen: which there are, how they stand, which has the focus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import urwid

from tfdbg_cli.tui.control.actions import Actions
from tfdbg_cli.tui.control.bugs import bug_report
from tfdbg_cli.tui.control.pane import Pane
from tfdbg_cli.tui.control.state import State
from tfdbg_cli.tui.panes.failed_pane import FailedPane
from tfdbg_cli.tui.panes.layout import Layout
from tfdbg_cli.tui.panes.page_pane import PagePane
from tfdbg_cli.tui.panes.pane_frame import Border, PaneFrame


@dataclass(frozen=True, slots=True)
class PaneKind:
    """A kind of pane: what makes it, its share of the width, and the columns from which a screen has room for it."""

    make: Callable[[State, Actions], Pane]
    share: int = 1
    from_cols: int = 0


# From left to right. One line a kind; the page stands on every screen.
KINDS: tuple[PaneKind, ...] = (PaneKind(PagePane, share=3),)


class Workspace:
    """The panes of one screen. A pane without room is not shown, and gives the focus back to the first one.

    A mistake in a pane takes its place, and nothing else of the screen; one in the first pane is the screen's.
    """

    def __init__(self, state: State, actions: Actions) -> None:
        self._state = state
        self._actions = actions
        self._panes = [(kind, kind.make(state, actions)) for kind in KINDS]
        state.focus = self._panes[0][1]

    def shares(self, cols: int) -> tuple[int, ...]:
        """The shares of the panes that a screen of `cols` columns shows."""
        return tuple(kind.share for kind, _ in self._shown(cols))

    def panes(self, cols: int) -> tuple[Pane, ...]:
        """The panes that a screen of `cols` columns shows, from left to right."""
        return tuple(pane for _, pane in self._shown(cols))

    def _shown(self, cols: int) -> list[tuple[PaneKind, Pane]]:
        return [(kind, pane) for kind, pane in self._panes if cols >= kind.from_cols]

    def fit(self, layout: Layout) -> None:
        """Fit each pane into its rectangle of `layout`."""
        panes = self.panes(layout.cols)
        if self._state.focus not in panes:
            self._state.focus = panes[0]
        for pane, place in zip(panes, layout.panes, strict=True):
            try:
                pane.fit(place.cols, place.rows)
            except Exception as error:  # noqa: BLE001  # a bug in a pane must not take the screen away
                self._given_up(pane, error).fit(place.cols, place.rows)

    def _given_up(self, pane: Pane, error: Exception) -> Pane:
        """What stands in the place of `pane` from now on; of the first one the error itself is raised."""
        at = next(n for n, (_, one) in enumerate(self._panes) if one is pane)
        if at == 0:
            raise error
        report = self._state.report = bug_report("drawing a pane", error)
        failed = FailedPane(report, self._state, self._actions)
        self._panes[at] = (self._panes[at][0], failed)
        if self._state.focus is pane:
            self._state.focus = failed
        return failed

    def widget(self, layout: Layout) -> urwid.Widget:
        """The panes side by side in their rectangles, the focus on the one that has it."""
        panes = self.panes(layout.cols)
        if len(panes) == 1:
            return panes[0]
        columns: list[tuple[int, urwid.Widget]] = []
        for pane, place in zip(panes, layout.panes, strict=True):
            columns += [(1, Border())] * bool(columns)
            columns.append((place.cols, PaneFrame(pane, self._state, self._given_up)))
        at = next(n for n, pane in enumerate(panes) if pane is self._state.focus)
        return urwid.Columns(columns, focus_column=2 * at)
