"""Names that were counted up: an op more on one side shifts them, so that `Tanh_2` stands for another layer there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable

from tfdbg_cli.analysis.pairing.sides import Side

_COUNTER = re.compile(r"_\d+(?=/|$)")
_Neighbours = dict[Hashable, set[str]]


class Namesakes:
    """What the names around two places of one name say of them."""

    def __init__(self, sides: tuple[Side, Side]) -> None:
        self._sides = sides
        one, two = (Counter(map(uncounted, side.index)) for side in sides)
        self._moved = {name for name in one.keys() & two.keys() if one[name] != two[name]}

    def misleads(self, first: int, second: int) -> bool:
        """Whether the name is one of more with a counter on one side, and nothing that computes around them agrees.

        One of them must read, or be read by, something that the other side has, too, at another place.
        """
        if uncounted(self._sides[0].places[first].name) not in self._moved:
            return False
        said = list(self._compared(self._inputs(0, first), self._inputs(1, second)))
        said += self._compared(self._readers(0, first), self._readers(1, second))
        return bool(said) and not any(said)

    def _compared(self, ours: _Neighbours, theirs: _Neighbours) -> Iterable[bool]:
        """Of each edge that both have: whether the same stands there; nothing where neither is known to the other."""
        for key in ours.keys() & theirs.keys():
            if ours[key] & theirs[key]:
                yield True
            elif any(map(self._is_in_both, ours[key] | theirs[key])):
                yield False

    def _is_in_both(self, name: str) -> bool:
        return all(name in side.index for side in self._sides)

    def _inputs(self, side: int, place: int) -> _Neighbours:
        found: _Neighbours = {}
        places = self._sides[side].places
        for position, (read, slot) in enumerate(places[place].reads):
            if places[read].reads:  # what a constant is called follows from who reads it
                key = 0 if places[place].commutes else position
                found.setdefault(("input", key, slot), set()).add(places[read].name)
        return found

    def _readers(self, side: int, place: int) -> _Neighbours:
        found: _Neighbours = {}
        for reader, position, slot in self._sides[side].readers[place]:
            found.setdefault(("reader", position, slot), set()).add(self._sides[side].places[reader].name)
        return found


def uncounted(name: str) -> str:
    """`name` without the numbers by which it is told from others."""
    return _COUNTER.sub("", name)
