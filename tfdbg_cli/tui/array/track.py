"""One axis on the screen: all of its places in a row, or its two ends with a gap between them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Track:
    """`length` places of an axis; of a longer one than twice `edge` only so many at each end are shown."""

    length: int
    edge: int | None = None

    @property
    def cut(self) -> bool:
        """Whether some places are left out."""
        return self.edge is not None and self.length > 2 * self.edge

    @property
    def count(self) -> int:
        """The slots that it takes on the screen, the gap included."""
        return 2 * self.edge + 1 if self.edge is not None and self.cut else self.length

    def place(self, slot: int) -> int | None:
        """What stands at `slot`, one of `count`; None at the gap."""
        if self.edge is None or not self.cut or slot < self.edge:
            return slot
        return None if slot == self.edge else self.length - (self.count - slot)

    def slot(self, place: int) -> int:
        """Where `place` stands; the gap where it is left out."""
        if self.edge is None or not self.cut or place < self.edge:
            return place
        return max(self.edge, self.count - (self.length - place))

    def moved(self, place: int, steps: int) -> int:
        """The place `steps` slots away from `place`, past the gap, and not beyond the ends."""
        slot = min(max(0, self.slot(place) + steps), self.count - 1)
        found = self.place(slot)
        if found is None:
            found = self.place(slot + (1 if steps > 0 else -1))
        return place if found is None else found


def window(first: int, at: int, size: int, count: int) -> int:
    """The first of `size` slots to show of `count`, so that `at` is among them: `first` if that will do.

    A slot next to the window scrolls it by what is needed; one further away is put into its middle.
    """
    size = max(1, size)
    if at < first:
        first = at if first - at <= size else at - size // 2
    elif at >= first + size:
        first = at - size + 1 if at - (first + size) < size else at - size // 2
    return min(max(0, first), max(0, count - size))
