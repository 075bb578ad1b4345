"""The places of two graphs coloured by where they stand: alike above, alike below (colour refinement)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from tfdbg_cli.analysis.pairing.sides import Side
from tfdbg_cli.model.walks import needs_first

Colours = Sequence[int]
_BACK = -1  # what stands for a place that a circle leads back to


@dataclass
class _Numbers:
    """A number for each thing, the same whenever it is met: exact, and small enough to be compared quickly."""

    known: dict[Hashable, int] = field(default_factory=dict)

    def of(self, thing: Hashable) -> int:
        return self.known.setdefault(thing, len(self.known))


@dataclass(frozen=True)
class Colouring:
    """For each side a colour of every place by all that it is made of (`above`), and by all that reads it (`below`).

    Equal colours mean the same in both sides.
    """

    above: tuple[Colours, Colours]
    below: tuple[Colours, Colours]

    def both(self, side: int, place: int) -> tuple[int, int]:
        """The colour by all that is around."""
        return self.above[side][place], self.below[side][place]


class Painter:
    """Colours the places of two sides, anew whenever more of them are paired.

    What is paired has a colour of its own, so that what is unpaired is told by where it stands relative to that.
    """

    def __init__(self, sides: tuple[Side, Side]) -> None:
        self._sides = sides
        self._kinds = tuple(self._kind_of(side) for side in sides)
        self._shapeless = tuple([place.family for place in side.places] for side in sides)
        self._orders = tuple(_order(side) for side in sides)

    def paint(self, paired: tuple[Mapping[int, int], Mapping[int, int]]) -> Colouring:
        """The colours, where the first of `paired` leads from the first side to the second, the other one back."""
        return self._painted(paired, self._kinds)

    def paint_shapeless(self) -> Colouring:
        """The colours where nothing is paired, and shapes and constants do not count: by ops and edges alone."""
        return self._painted(({}, {}), self._shapeless)

    def _painted(
        self, paired: tuple[Mapping[int, int], Mapping[int, int]], kinds: Sequence[Sequence[Hashable]]
    ) -> Colouring:
        numbers = _Numbers()
        fixed = ({a: a for a in paired[0]}, dict(paired[1]))
        above = (self._above(0, kinds[0], fixed[0], numbers), self._above(1, kinds[1], fixed[1], numbers))
        below = (self._below(0, kinds[0], fixed[0], numbers), self._below(1, kinds[1], fixed[1], numbers))
        return Colouring(above, below)

    def _kind_of(self, side: Side) -> Sequence[Hashable]:
        return [
            (place.family, side.shape(i), side.structural(i)) if not place.reads else place.family
            for i, place in enumerate(side.places)
        ]

    def _above(self, at: int, kinds: Sequence[Hashable], fixed: Mapping[int, int], numbers: _Numbers) -> Colours:
        side = self._sides[at]
        colours = [_BACK] * len(side.places)
        for i in self._orders[at]:
            if i in fixed:
                colours[i] = numbers.of(("paired", fixed[i]))
                continue
            place = side.places[i]
            reads = [(colours[read], slot) for read, slot in place.reads]
            colours[i] = numbers.of((kinds[i], *(sorted(reads) if place.commutes else reads)))
        return colours

    def _below(self, at: int, kinds: Sequence[Hashable], fixed: Mapping[int, int], numbers: _Numbers) -> Colours:
        side = self._sides[at]
        colours = [_BACK] * len(side.places)
        for i in reversed(self._orders[at]):
            if i in fixed:
                colours[i] = numbers.of(("paired", fixed[i]))
                continue
            readers = sorted((position, slot, colours[reader]) for reader, position, slot in side.readers[i])
            colours[i] = numbers.of(("read by", kinds[i], *readers))
        return colours


def _order(side: Side) -> Sequence[int]:
    """The places, each behind all that it reads, but for circles."""
    return list(needs_first(range(len(side.places)), lambda i: [read for read, _ in side.places[i].reads]))
