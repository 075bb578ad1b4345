"""Where things stand on a screen of a given size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MIN_COLS = 40
MIN_ROWS = 10


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle of the screen: its first column and row, counted from 0, and how many it has."""

    left: int
    top: int
    cols: int
    rows: int

    def holds(self, col: int, row: int) -> bool:
        """Whether the place is in it."""
        return 0 <= col - self.left < self.cols and 0 <= row - self.top < self.rows


@dataclass(frozen=True, slots=True)
class ScreenLayout:
    """Rows of each part, counted from the top. Every part is as wide as the screen.

    The order is title, crumbs, panes (the body), candidates, status, prompt, footer; a part without room has no row.
    `shares` are those of the panes, from left to right, or from the top where they are `stacked`.
    """

    cols: int
    rows: int
    crumbs: int
    body: int
    candidates: int
    status: int
    footer: int
    shares: tuple[int, ...] = (1,)
    stacked: bool = False

    @property
    def body_top(self) -> int:
        return 1 + self.crumbs

    @property
    def prompt_row(self) -> int:
        return self.rows - 1 - self.footer

    @property
    def panes(self) -> tuple[Rect, ...]:
        """The rectangle of each pane.

        One alone has the whole body. Beside one another each stands under its title, with a column between two; above
        one another each but the first has a row with its title over it.
        """
        if self.stacked:
            ends = self._ends(self.body)
            heights = [ends[n + 1] - ends[n] - (n > 0) for n in range(len(self.shares))]
            tops = [self.body_top + ends[n] + (n > 0) for n in range(len(self.shares))]
            return tuple(Rect(0, top, self.cols, rows) for top, rows in zip(tops, heights, strict=True))
        heads = 1 if len(self.shares) > 1 else 0
        ends = self._ends(self.cols)
        return tuple(
            Rect(ends[n] + n, self.body_top + heads, ends[n + 1] - ends[n], self.body - heads)
            for n in range(len(self.shares))
        )

    def _ends(self, length: int) -> list[int]:
        """Where each pane begins and the last one ends on `length` columns or rows, borders left out."""
        room = length - (len(self.shares) - 1) * (not self.stacked)
        return [room * sum(self.shares[:n]) // sum(self.shares) for n in range(len(self.shares) + 1)]

    def on_border(self, col: int, row: int) -> bool:
        """Whether the place is on what parts the first pane from the second."""
        if len(self.shares) < 2 or not self.body_top <= row < self.body_top + self.body:
            return False
        second = self.panes[1]
        return row == second.top - 1 if self.stacked else col == second.left - 1

    def share_at(self, col: int, row: int) -> float:
        """The part of the body, from 0 to 1, that lies before a place."""
        return (row - self.body_top) / self.body if self.stacked else col / self.cols


def layout_for(
    cols: int,
    rows: int,
    status: int = 1,
    candidates: int = 0,
    shares: Sequence[int] = (1,),
    *,
    stacked: bool = False,
) -> ScreenLayout | None:
    """The layout of a screen of `cols` by `rows`; None when nothing useful fits.

    `status` and `candidates` are the rows these would like; the panes keep at least half of the screen, and divide
    it by their `shares`.
    """
    if cols < MIN_COLS or rows < MIN_ROWS:
        return None
    footer = 1 if rows >= 12 else 0
    fixed = 1 + 1 + 1 + footer  # title, crumbs, prompt
    spare = rows - fixed - rows // 2
    status = max(1, min(status, spare))
    candidates = max(0, min(candidates, spare - status))
    body = rows - fixed - status - candidates
    return ScreenLayout(cols, rows, 1, body, candidates, status, footer, tuple(shares), stacked)
