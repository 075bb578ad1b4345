"""Variables of two checkpoints that the program calls alike, though each file names them by another way to them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from tfdbg_cli.analysis.pairing.sides import Side


def called_alike(
    sides: tuple[Side, Side],
    unpaired: tuple[Sequence[int], Sequence[int]],
    content: Callable[[int, int], Hashable],
) -> Iterable[tuple[int, int]]:
    """Pairs of places whose variables have one name in the program; and those whose ways to them end alike.

    A file may hold a variable more than once, and a program call several the same: those are told by what they hold.
    """
    named = [_by_name(sides[side], unpaired[side]) for side in (0, 1)]
    for name in [name for name in named[0] if name in named[1]]:
        known = [{content(side, place) for place in named[side][name]} for side in (0, 1)]
        ours, theirs = named[0][name][0], named[1][name][0]
        if len(known[0]) == 1 == len(known[1]) and sides[0].shape(ours) == sides[1].shape(theirs):
            yield ours, theirs
    ends = [_by_end(sides[side], unpaired[side]) for side in (0, 1)]
    for side in (0, 1):
        for place in unpaired[side]:
            if sides[side].is_saved(place):
                longer = ends[1 - side].get(sides[side].places[place].name, ())
                if len(longer) == 1 and sides[side].shape(place) == sides[1 - side].shape(longer[0]):
                    yield (longer[0], place) if side else (place, longer[0])


def _by_name(side: Side, places: Sequence[int]) -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = {}
    for place in places:
        if name := side.called(place):
            found.setdefault(name, []).append(place)
    return found


def _by_end(side: Side, places: Sequence[int]) -> Mapping[str, Sequence[int]]:
    """The variables by what is left of the way to them without its first parts."""
    found: dict[str, list[int]] = {}
    for place in places:
        if side.is_saved(place):
            parts = side.places[place].name.split("/")
            for start in range(1, len(parts)):
                found.setdefault("/".join(parts[start:]), []).append(place)
    return found
