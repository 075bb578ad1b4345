"""How the panes of the middle stand on a screen of some size: which of them, in which order, with which shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tfdbg_cli.config.settings import Settings
from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.state.pane import Pane
from tfdbg_cli.tui.state.state import ScreenState


class PreviewSide(StrEnum):
    """Where the panes beside the page stand, by the names of the setting `preview`."""

    RIGHT = "right"
    LEFT = "left"
    BELOW = "below"


@dataclass(frozen=True, slots=True)
class PaneKind:
    """A kind of pane: what makes it, its share beside others, and from which size of the screen there is room for it.

    From `from_cols` columns on it stands beside the page, from `from_rows` rows on it may stand below it (0: never).
    """

    make: Callable[[ScreenState, Actions], Pane]
    share: int = 1
    from_cols: int = 0
    from_rows: int = 0

    def side(self, cols: int, rows: int, wanted: str) -> PreviewSide | None:
        """Where it stands on a screen of this size if `wanted` is the setting; None where it does not."""
        beside = cols >= self.from_cols
        below = 0 < self.from_rows <= rows
        if wanted == "off" or not (beside or below):
            return None
        if wanted == PreviewSide.BELOW and below:
            return PreviewSide.BELOW
        return (
            (PreviewSide.LEFT if wanted == PreviewSide.LEFT else PreviewSide.RIGHT) if beside else PreviewSide.BELOW
        )


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Panes by their number among the kinds, in the order in which they stand, with their shares."""

    numbers: tuple[int, ...] = (0,)
    shares: tuple[int, ...] = (1,)
    side: PreviewSide = PreviewSide.RIGHT

    @property
    def stacked(self) -> bool:
        """Whether they stand above one another."""
        return self.side is PreviewSide.BELOW and len(self.numbers) > 1


ALONE = Arrangement()


def arranged(
    kinds: Sequence[PaneKind], cols: int, rows: int, settings: Settings, shown: Callable[[int], bool]
) -> Arrangement:
    """How panes of `kinds` stand. The first one is the page, which stands always; `shown` tells of the others."""
    sides = {
        number: side
        for number, kind in enumerate(kinds[1:], 1)
        if shown(number) and (side := kind.side(cols, rows, settings.preview)) is not None
    }
    if not sides:
        return ALONE
    side = next(iter(sides.values()))
    others = tuple(number for number, found in sides.items() if found is side)
    whole = sum(kinds[number].share for number in others)
    shares = (
        (100 - settings.preview_share) * whole,
        *(settings.preview_share * kinds[number].share for number in others),
    )
    if side is PreviewSide.LEFT:
        return Arrangement((*reversed(others), 0), tuple(reversed(shares)), side)
    return Arrangement((0, *others), shares, side)
