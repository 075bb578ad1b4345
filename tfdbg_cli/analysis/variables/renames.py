"""Which variable of another place one may be that has no pair there: renamed, or in another scope."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tfdbg_cli.analysis.variables.listing import Variable
from tfdbg_cli.model.names import nearest

_MOST_OF_A_KIND = 50  # variables of one dtype and shape among which similar names are looked for

Content: TypeAlias = Callable[[int], "bytes | None"]
"""What tells what the variable at a place holds, as a few bytes; None where nobody knows."""


@dataclass(frozen=True, slots=True)
class Rename:
    """The variable at `other` may be the one; `same_values` says that it holds the same to the last bit."""

    other: int
    same_values: bool = False


def renames(
    first: Sequence[Variable],
    second: Sequence[Variable],
    only_first: Sequence[int],
    only_second: Sequence[int],
    contents: tuple[Content, Content],
) -> Mapping[int, Rename]:
    """By places in `first` what they may be in `second`, of the same dtype and shape; none is taken twice.

    What holds the same, as nothing else there does, is one; then what ends with the same parts of a name, the longest
    end first; then, where few are of a kind, what has a near name. The time goes with the number of variables.
    """
    kinds = {first[at].kind for at in only_first} & {second[at].kind for at in only_second}
    kinds = {kind for kind in kinds if kind[1] is not None}
    left = (
        [at for at in only_first if first[at].kind in kinds],
        [at for at in only_second if second[at].kind in kinds],
    )
    found: dict[int, Rename] = {}

    def take(pairs: Iterable[tuple[int, int]], *, same_values: bool) -> None:
        for mine, other in pairs:
            found[mine] = Rename(other, same_values)
        taken = {one.other for one in found.values()}
        left[0][:] = [at for at in left[0] if at not in found]
        left[1][:] = [at for at in left[1] if at not in taken]

    def content(side: int, variables: Sequence[Variable]) -> Callable[[int], Hashable | None]:
        def tell(at: int) -> Hashable | None:
            held = contents[side](at)
            return None if held is None else (variables[at].kind, held)

        return tell

    take(_alone(left, content(0, first), content(1, second)), same_values=True)
    parts = [first[at].name.count("/") for at in left[0]] + [second[at].name.count("/") for at in left[1]]
    for length in range(max(parts, default=0) + 1, 0, -1):
        take(_alone(left, _end(first, length), _end(second, length)), same_values=False)
    take(list(_near(first, second, left)), same_values=False)
    return found


def _alone(
    left: tuple[Sequence[int], Sequence[int]],
    mine: Callable[[int], Hashable | None],
    theirs: Callable[[int], Hashable | None],
) -> Sequence[tuple[int, int]]:
    """The pairs of which both tell the same, as one of each side does."""
    by_told: tuple[dict[Hashable, list[int]], ...] = ({}, {})
    for places, told, groups in zip(left, (mine, theirs), by_told, strict=True):
        for at in places:
            if (key := told(at)) is not None:
                groups.setdefault(key, []).append(at)
    ours, others = by_told
    return [(of[0], others[key][0]) for key, of in ours.items() if len(of) == 1 == len(others.get(key, ()))]


def _end(variables: Sequence[Variable], length: int) -> Callable[[int], Hashable | None]:
    def tell(at: int) -> Hashable | None:
        parts = variables[at].name.rsplit("/", length)[-length:]
        return (variables[at].kind, *parts) if len(parts) == length else None

    return tell


def _near(
    first: Sequence[Variable], second: Sequence[Variable], left: tuple[Sequence[int], Sequence[int]]
) -> Iterator[tuple[int, int]]:
    """Pairs with near names, among those of a kind; where the others are many, none."""
    of_kind: dict[Hashable, dict[str, int]] = {}
    for at in left[1]:
        of_kind.setdefault(second[at].kind, {})[second[at].name] = at
    asked: dict[Hashable, list[int]] = {}
    for at in left[0]:
        asked.setdefault(first[at].kind, []).append(at)
    for kind, places in asked.items():
        known = of_kind.get(kind, {})
        if max(len(known), len(places)) > _MOST_OF_A_KIND:
            continue
        for at in places:
            for name in nearest(first[at].name, known, 1):
                yield at, known.pop(name)
