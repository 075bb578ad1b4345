"""Where things stand on a screen of a given size."""

from __future__ import annotations

from dataclasses import dataclass

MIN_COLS = 40
MIN_ROWS = 10


@dataclass(frozen=True, slots=True)
class Layout:
    """Rows of each part, counted from the top. Every part is as wide as the screen.

    The order is title, crumbs, document, candidates, status, prompt, footer; a part without room has no row.
    """

    cols: int
    rows: int
    crumbs: int
    body: int
    candidates: int
    status: int
    footer: int

    @property
    def body_top(self) -> int:
        return 1 + self.crumbs

    @property
    def prompt_row(self) -> int:
        return self.rows - 1 - self.footer


def layout_for(cols: int, rows: int, status: int = 1, candidates: int = 0) -> Layout | None:
    """The layout of a screen of `cols` by `rows`; None when nothing useful fits.

    `status` and `candidates` are the rows these would like; the document keeps at least half of the screen.
    """
    if cols < MIN_COLS or rows < MIN_ROWS:
        return None
    footer = 1 if rows >= 12 else 0
    fixed = 1 + 1 + 1 + footer  # title, crumbs, prompt
    spare = rows - fixed - rows // 2
    status = max(1, min(status, spare))
    candidates = max(0, min(candidates, spare - status))
    return Layout(cols, rows, 1, rows - fixed - status - candidates, candidates, status, footer)
