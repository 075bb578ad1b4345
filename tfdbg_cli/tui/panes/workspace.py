"""The panes that share the middle of the screen: which there are, how they stand, which has the focus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import methodcaller

import urwid

from tfdbg_cli.config.settings import PREVIEW_SHARES
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.panes.arrangement import Arrangement, PaneKind, PreviewSide, arranged
from tfdbg_cli.tui.panes.failed_pane import FailedPane
from tfdbg_cli.tui.panes.layout import ScreenLayout
from tfdbg_cli.tui.panes.page_pane import PagePane
from tfdbg_cli.tui.panes.pane_frame import Border, PaneFrame
from tfdbg_cli.tui.panes.preview_pane import PreviewPane
from tfdbg_cli.tui.state.bugs import bug_report
from tfdbg_cli.tui.state.pane import Pane
from tfdbg_cli.tui.state.state import ScreenState

# The page, which stands on every screen, and what stands beside it. One line a kind.
KINDS: tuple[PaneKind, ...] = (
    PaneKind(PagePane),
    PaneKind(PreviewPane, from_cols=140, from_rows=40),
)


class Workspace:
    """The panes of one screen. A pane without room is not shown, and gives the focus back to the page.

    A mistake in a pane takes its place, and nothing else of the screen; one in the page is the screen's.
    """

    def __init__(self, state: ScreenState, actions: Actions) -> None:
        self._state = state
        self._actions = actions
        self._kinds = KINDS
        self._panes = [kind.make(state, actions) for kind in self._kinds]
        state.focus = self._panes[0]

    def arrangement(self, cols: int, rows: int) -> Arrangement:
        """How the panes stand on a screen of this size; while one is zoomed it stands alone."""
        found = arranged(
            self._kinds, cols, rows, self._state.service.settings, lambda number: self._panes[number].belongs
        )
        at = next((n for n, pane in enumerate(self._panes) if pane is self._state.focus), 0)
        if self._state.zoomed and at in found.numbers:
            return Arrangement((at,))
        return found

    def panes(self, arrangement: Arrangement) -> tuple[Pane, ...]:
        """The panes that stand so, in their order."""
        return tuple(self._panes[number] for number in arrangement.numbers)

    def fit(self, layout: ScreenLayout, arrangement: Arrangement) -> None:
        """Fit each pane into its rectangle of `layout`."""
        panes = self.panes(arrangement)
        if self._state.focus not in panes:
            self._state.focus = self._panes[0]
        self._state.panes = panes
        self._state.room_from = _room_from(self._kinds[1:], layout)
        for pane, place in zip(panes, layout.panes, strict=True):
            self._careful(pane, methodcaller("fit", place.cols, place.rows))

    def running(self, arrangement: Arrangement) -> bool:
        """Whether a pane has something left to do between two keys."""
        return any(pane.running for pane in self.panes(arrangement))

    def work(self, arrangement: Arrangement, enough: Callable[[], bool]) -> None:
        """Let the panes go on, the page first, until it is `enough`; while one waits the next goes on.

        Raises:
            TfdbgError: what a pane shows cannot be had. That is no mistake of the pane.

        """
        for pane in sorted(self.panes(arrangement), key=self._panes.index):
            if pane.running:
                self._careful(pane, methodcaller("work", enough), TfdbgError)
                if enough() and not pane.waits:
                    return

    def looks_ahead(self, arrangement: Arrangement) -> bool:
        """Whether the pane with the focus can get ready for the next key."""
        return any(pane.looks_ahead for pane in self.panes(arrangement) if pane is self._state.focus)

    def look_ahead(self, enough: Callable[[], bool]) -> None:
        """Let it do so until it is `enough`."""
        at = next(n for n, pane in enumerate(self._panes) if pane is self._state.focus)
        self._careful(self._panes[at], methodcaller("look_ahead", enough), TfdbgError)

    def dragged(self, layout: ScreenLayout, arrangement: Arrangement, col: int, row: int) -> int:
        """The percentage that the panes beside the page have when the border is dragged to a place."""
        before = layout.share_at(col, row)
        share = before if arrangement.side is PreviewSide.LEFT else 1 - before
        return min(max(PREVIEW_SHARES[0], round(100 * share)), PREVIEW_SHARES[1])

    def _careful(self, pane: Pane, work: Callable[[Pane], None], fine: type[Exception] | tuple[()] = ()) -> None:
        """Let `pane` do something; what is shown for its mistake does it in its place. A `fine` error is none."""
        try:
            work(pane)
        except fine:
            raise
        except our_errors() as error:  # a bug in a pane must not take the screen away
            work(self._given_up(pane, error))

    def _given_up(self, pane: Pane, error: Exception) -> Pane:
        """What stands in the place of `pane` from now on; of the page the error itself is raised."""
        at = self._panes.index(pane)
        if at == 0:
            raise error
        report = self._state.report = bug_report("drawing a pane", error)
        failed = FailedPane(report, self._state, self._actions)
        self._panes[at] = failed
        if self._state.focus is pane:
            self._state.focus = failed
        return failed

    def widget(self, layout: ScreenLayout, arrangement: Arrangement) -> urwid.Widget:
        """The panes in their rectangles, the focus on the one that has it."""
        panes = self.panes(arrangement)
        if len(panes) == 1:
            return panes[0]
        at = next(n for n, pane in enumerate(panes) if pane is self._state.focus)
        if arrangement.stacked:
            return urwid.Pile(
                [
                    (place.rows + (n > 0), PaneFrame(pane, self._state, self._given_up, ruled=True, titled=n > 0))
                    for n, (pane, place) in enumerate(zip(panes, layout.panes, strict=True))
                ],
                focus_item=at,
            )
        columns: list[tuple[int, urwid.Widget]] = []
        for pane, place in zip(panes, layout.panes, strict=True):
            columns += [(1, Border())] * bool(columns)
            columns.append((place.cols, PaneFrame(pane, self._state, self._given_up)))
        return urwid.Columns(columns, focus_column=2 * at)


def _room_from(kinds: Sequence[PaneKind], layout: ScreenLayout) -> str:
    """From which size on one of `kinds` stands beside the page; empty where there is room for one."""
    if not kinds or any(kind.side(layout.cols, layout.rows, "auto") is not None for kind in kinds):
        return ""
    return f"from {min(kind.from_cols for kind in kinds)} columns or {min(kind.from_rows for kind in kinds)} rows on"
