"""Which node of one run is which of another: by what a user says, by name, by place in the graph, by content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from tfdbg_cli.analysis.pairing.colours import Painter
from tfdbg_cli.analysis.pairing.namesakes import Namesakes, uncounted
from tfdbg_cli.analysis.pairing.renames import Renames
from tfdbg_cli.analysis.pairing.sides import Side
from tfdbg_cli.analysis.pairing.variable_names import called_alike
from tfdbg_cli.model.updates import UPDATED_VARIABLE

Pair = tuple[int, int]
Key = TypeVar("Key", bound=Hashable)
_MOST_ROUNDS = 40  # of colouring anew; each pairs something


@dataclass
class Pairs:
    """The places of two sides paired so far, each at most once."""

    sides: tuple[Side, Side]
    renames: Renames = field(default_factory=Renames)
    content: Callable[[int, int], Hashable] = lambda side, place: None
    second: dict[int, int] = field(default_factory=dict)  # by the place in the first side
    first: dict[int, int] = field(default_factory=dict)
    unused_lines: Sequence[int] = ()  # of the map

    def __post_init__(self) -> None:
        self.painter = Painter(self.sides)
        self.colouring = self.painter.paint(({}, {}))
        self._shapeless = self.painter.paint_shapeless()
        self._namesakes = Namesakes(self.sides)

    @property
    def paired(self) -> tuple[Mapping[int, int], Mapping[int, int]]:
        """From the first side to the second, and back."""
        return self.second, self.first

    def accept(self, proposed: Iterable[Pair], *, said: bool = False) -> list[Pair]:
        """Take those of `proposed` that nothing contradicts: both unpaired, neither proposed with another one.

        Neither do the variables that they read, unless the user `said` that they are pairs.
        """
        fresh = [
            pair for pair in dict.fromkeys(proposed) if self.free(*pair) and (said or not self._are_apart(*pair))
        ]
        counts = Counter(a for a, _ in fresh), Counter(b for _, b in fresh)
        taken = [(a, b) for a, b in fresh if counts[0][a] == 1 == counts[1][b]]
        self.second.update(taken)
        self.first.update((b, a) for a, b in taken)
        return taken

    def free(self, first: int, second: int) -> bool:
        """Whether both are unpaired."""
        return first not in self.second and second not in self.first

    def unpaired(self, side: int) -> list[int]:
        """The places of a side that are unpaired."""
        known = self.paired[side]
        return [place for place in range(len(self.sides[side].places)) if place not in known]

    def alike(self, first: int, second: int) -> bool:
        """Whether both are of one family, and give tensors of one shape, or are made of the same ops all the way."""
        one, two = self.sides
        return one.places[first].family == two.places[second].family and self.fits(first, second)

    def fits(self, first: int, second: int) -> bool:
        """Whether both give tensors of one shape, if that is known, or are made of the same ops all the way.

        The rank must be the same at least: a batch may be larger, but is no scalar.
        """
        ours, theirs = self.sides[0].shape(first), self.sides[1].shape(second)
        if ours is None or theirs is None or ours == theirs:
            return True
        same_ops = self._shapeless.above[0][first] == self._shapeless.above[1][second]
        return same_ops and len(ours) == len(theirs)

    def misleading(self, first: int, second: int) -> bool:
        """Whether the one name of both says nothing, since it was counted up, and all around them differs."""
        return self._namesakes.misleads(first, second)

    def reads_another(self, first: int, second: int) -> bool:
        """Whether both read variables that both sides have, but not the same: a cast more renumbers all reads."""
        one, two = self.sides
        ours, theirs = one.variables.get(first), two.variables.get(second)
        return ours != theirs and ours in two.variable_names and theirs in one.variable_names

    def _are_apart(self, first: int, second: int) -> bool:
        """Whether both read variables that both sides have, and that are not told apart by numbers in names alone."""
        if not self.reads_another(first, second):
            return False
        one, two = self.sides
        return uncounted(one.variables[first]) != uncounted(two.variables[second])


Strategy = Callable[[Pairs], Iterable[Pair]]
"""What proposes pairs of places that are unpaired."""


def mapped(pairs: Pairs) -> Iterable[Pair]:
    """What the user says."""
    sides = pairs.sides
    if not pairs.renames.lines:
        return ()
    names, pairs.unused_lines = pairs.renames.pairs(sides[0].index, sides[1].index)
    return [(sides[0].index[one], sides[1].index[two]) for one, two in names]


def named(pairs: Pairs) -> Iterable[Pair]:
    """Those of one name, unless another node stands in the place of one of them: counters in names may have moved."""
    colouring = pairs.colouring
    above = [set(colours) for colours in colouring.above]
    for a, b in _namesakes(pairs):
        if not pairs.alike(a, b) or pairs.reads_another(a, b):
            continue
        ours, theirs = colouring.above[0][a], colouring.above[1][b]
        if not pairs.sides[0].places[a].reads:  # of what comes from outside only those who read it tell
            if colouring.below[0][a] == colouring.below[1][b]:
                yield a, b
        elif ours == theirs or (ours not in above[1] and theirs not in above[0] and not pairs.misleading(a, b)):
            yield a, b


def called(pairs: Pairs) -> Iterable[Pair]:
    """Variables of checkpoints that are one of the program's, whatever the way to them."""
    return called_alike(pairs.sides, (pairs.unpaired(0), pairs.unpaired(1)), pairs.content)


def placed(pairs: Pairs) -> Iterable[Pair]:
    """Those that stand in the same place, as the only ones: by all around them, else above or below."""
    colouring = pairs.painter.paint(pairs.paired)
    found = _only(pairs, lambda side, place: colouring.both(side, place))
    if not found:
        found = _only(pairs, lambda side, place: colouring.above[side][place], reading=True)
        found += _only(pairs, lambda side, place: colouring.below[side][place])
    return found


def same_content(pairs: Pairs) -> Iterable[Pair]:
    """Of those that stand in the same place those that read a variable of one name, else that hold the same.

    Then the first and the first, and so on.
    """
    colouring = pairs.painter.paint(pairs.paired)
    groups = _grouped(pairs, lambda side, place: colouring.both(side, place))
    for group in groups.values():
        left = group
        for by in (_by_variable, _by_content):
            found = _only_ones([by(pairs, side, places) for side, places in enumerate(left)])
            yield from found
            met = {a for a, _ in found}, {b for _, b in found}
            left = [p for p in left[0] if p not in met[0]], [p for p in left[1] if p not in met[1]]
        if len(left[0]) == len(left[1]):
            yield from zip(*left, strict=True)


def named_alike(pairs: Pairs) -> Iterable[Pair]:
    """Those of one name, whatever their place and type is."""
    return [pair for pair in _namesakes(pairs) if pairs.fits(*pair)]


def same_anywhere(pairs: Pairs) -> Iterable[Pair]:
    """Those of one family and shape that hold the same, wherever they stand."""
    keys: list[dict[Hashable, list[int]]] = [{}, {}]
    for side in (0, 1):
        for place in pairs.unpaired(side):
            content = pairs.content(side, place)
            if content is not None:
                keys[side].setdefault((pairs.sides[side].places[place].family, content), []).append(place)
    return _only_ones(keys)


def read_alike(pairs: Pairs) -> Iterable[Pair]:
    """Ops of other types that give a tensor of the same shape to readers that are paired."""
    for a, b in pairs.second.items():
        ours, theirs = pairs.sides[0].places[a].reads, pairs.sides[1].places[b].reads
        if len(ours) == len(theirs):
            for (one, slot), (two, other) in zip(ours, theirs, strict=True):
                if slot == other and pairs.free(one, two):
                    shape = pairs.sides[0].shape(one)
                    if shape is not None and shape == pairs.sides[1].shape(two):
                        yield one, two


def given_out(pairs: Pairs) -> Iterable[Pair]:
    """What both gave to the program, in that order, where they updated no variable that tells as much."""
    one, two = pairs.sides
    if any(one.places[a].family == UPDATED_VARIABLE == two.places[b].family for a, b in pairs.second.items()):
        return ()
    ours, theirs = (
        [place for place in side.results if place not in pairs.paired[i]] for i, side in enumerate((one, two))
    )
    return zip(ours, theirs, strict=False)


STRATEGIES: Sequence[Strategy] = (
    mapped,
    named,
    called,
    placed,
    same_content,
    named_alike,
    same_anywhere,
    read_alike,
    given_out,
)
"""In the order in which they are asked; behind each, what is paired is followed along its edges."""


def pair_places(sides: tuple[Side, Side], renames: Renames, content: Callable[[int, int], Hashable]) -> Pairs:
    """Pair what can be paired, each place at most once.

    `content` tells by side and place something that is equal where the values are, None where there are none.
    """
    pairs = Pairs(sides, renames, content)
    said: set[int] = set()
    for strategy in STRATEGIES:
        for _ in range(_MOST_ROUNDS):
            if not (pairs.unpaired(0) and pairs.unpaired(1)) or not (
                new := pairs.accept(strategy(pairs), said=strategy is mapped)
            ):
                break
            _follow_edges(pairs, new)
        if strategy is mapped:
            said = set(pairs.second)
    for a in [a for a, b in pairs.second.items() if a not in said and _is_chance(pairs, a, b)]:
        del pairs.first[pairs.second.pop(a)]
    return pairs


def _is_chance(pairs: Pairs, a: int, b: int) -> bool:
    """Whether two places are constants that hold other values, and have neither a name nor a reader in common.

    Readers that are paired, but ops of different types, read different things: the axes of a Sum are no shape.
    """
    one, two = pairs.sides
    if not (one.is_constant(a) or two.is_constant(b)) or pairs.content(0, a) == pairs.content(1, b):
        return False
    if one.places[a].name == two.places[b].name and not pairs.misleading(a, b):
        return False
    readers = {
        (other, position, slot)
        for reader, position, slot in one.readers[a]
        if (other := pairs.second.get(reader)) is not None and one.places[reader].family == two.places[other].family
    }
    return readers.isdisjoint(two.readers[b])


def _follow_edges(pairs: Pairs, new: Sequence[Pair]) -> None:
    """What paired ops read at the same place is a pair, and what alone reads them at the same place."""
    while new:
        proposed: list[Pair] = []
        for a, b in new:
            proposed += _inputs(pairs, a, b)
            proposed += _readers(pairs, a, b)
        new = pairs.accept(proposed)


def _inputs(pairs: Pairs, a: int, b: int) -> Iterable[Pair]:
    one, two = pairs.sides[0].places[a], pairs.sides[1].places[b]
    if len(one.reads) != len(two.reads):
        return []
    reads = two.reads
    if one.commutes and not all(pairs.alike(x, y) for (x, _), (y, _) in zip(one.reads, reads, strict=True)):
        reads = reads[::-1]
    return [
        (x, y)
        for (x, slot), (y, other) in zip(one.reads, reads, strict=True)
        if slot == other and pairs.free(x, y) and pairs.alike(x, y)
    ]


def _readers(pairs: Pairs, a: int, b: int) -> Iterable[Pair]:
    grouped: list[dict[tuple[str, int, int], list[int]]] = [{}, {}]
    for side, place in ((0, a), (1, b)):
        for reader, position, slot in pairs.sides[side].readers[place]:
            if reader not in pairs.paired[side]:
                key = pairs.sides[side].places[reader].family, position, slot
                grouped[side].setdefault(key, []).append(reader)
    return [pair for pair in _only_ones(grouped) if pairs.fits(*pair)]


def _only_ones(by_key: Sequence[Mapping[Key, Sequence[int]]]) -> list[Pair]:
    """The places of both sides that are the only ones there with the same key."""
    ours, theirs = by_key
    return [(a[0], b[0]) for key, a in ours.items() if len(a) == 1 == len(b := theirs.get(key, ()))]


def _namesakes(pairs: Pairs) -> Iterable[Pair]:
    other = pairs.sides[1].index
    for name, a in pairs.sides[0].index.items():
        if (b := other.get(name)) is not None and pairs.free(a, b):
            yield a, b


def _grouped(
    pairs: Pairs, key: Callable[[int, int], Hashable], *, reading: bool = False
) -> dict[Hashable, tuple[list[int], list[int]]]:
    groups: dict[Hashable, tuple[list[int], list[int]]] = {}
    for side in (0, 1):
        for place in pairs.unpaired(side):
            if not reading or pairs.sides[side].places[place].reads:
                groups.setdefault(key(side, place), ([], []))[side].append(place)
    return groups


def _only(pairs: Pairs, key: Callable[[int, int], Hashable], *, reading: bool = False) -> list[Pair]:
    groups = _grouped(pairs, key, reading=reading).values()
    return [(ours[0], theirs[0]) for ours, theirs in groups if len(ours) == 1 == len(theirs)]


def _by_variable(pairs: Pairs, side: int, places: Sequence[int]) -> dict[Hashable, list[int]]:
    """Those of `places` that read a variable, by what that is called: many variables hold the same, as 0."""
    found: dict[Hashable, list[int]] = {}
    for place in places:
        name = pairs.sides[side].variables.get(place)
        if name is not None:
            found.setdefault(name, []).append(place)
    return found


def _by_content(pairs: Pairs, side: int, places: Sequence[int]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for place in places:
        content = pairs.content(side, place)
        if content is not None:
            found.setdefault(content, []).append(place)
    return found
