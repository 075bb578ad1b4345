"""Which variable of another place one may be that has no pair there: renamed, or in another scope."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from tfdbg_cli.analysis.variables.listing import Variable
from tfdbg_cli.model.names import nearest

_MOST_OF_A_KIND = 50  # variables of one dtype and shape among which similar names are looked for

Content: TypeAlias = Callable[[int], "bytes | None"]
"""What tells what the variable at a place holds, as a few bytes; None where nobody knows."""


@dataclass(frozen=True, slots=True)
class VariableRename:
    """The variable at `other` may be the one; `same_values` says that it holds the same to the last bit."""

    other: int
    same_values: bool = False


def renames(
    first: Sequence[Variable],
    second: Sequence[Variable],
    only_first: Sequence[int],
    only_second: Sequence[int],
    contents: tuple[Content, Content],
) -> Mapping[int, VariableRename]:
    """By places in `first` what they may be in `second`, of the same dtype and shape; none is taken twice.

    What the program calls alike is looked for first, for a file may hold that twice: it is nothing that is called
    otherwise. Among those, and then among the rest, what holds the same, as nothing else does, is one; then what ends
    with the same parts of a name, the longest end first; then, where few are of a kind, what has a near name; and of
    what is called alike, where one of them is left on one side, the first of the other. The time goes with the number
    of variables.
    """
    kinds = {first[at].kind for at in only_first} & {second[at].kind for at in only_second}
    kinds = {kind for kind in kinds if kind[1] is not None}
    ours = [at for at in only_first if first[at].kind in kinds]
    theirs = [at for at in only_second if second[at].kind in kinds]
    alike = {_called(first[at]) for at in ours} & {_called(second[at]) for at in theirs}
    held = (lru_cache(maxsize=None)(contents[0]), lru_cache(maxsize=None)(contents[1]))
    found: dict[int, VariableRename] = {}
    for group, is_alike in ((_called, True), (_kind, False)):
        left = (
            [at for at in ours if (_called(first[at]) in alike) is is_alike],
            [at for at in theirs if (_called(second[at]) in alike) is is_alike],
        )
        _match(first, second, left, group, held, found)
        if is_alike:
            pairs = [*((mine, one.other) for mine, one in found.items()), *_first_of_several(first, second, left)]
            found = {mine: VariableRename(other, _holds_the_same(held, mine, other)) for mine, other in pairs}
    return found


def _holds_the_same(contents: tuple[Content, Content], mine: int, other: int) -> bool:
    content = contents[0](mine)
    return content is not None and content == contents[1](other)


def _called(variable: Variable) -> Hashable:
    return variable.kind, variable.full_name or variable.name


def _kind(variable: Variable) -> Hashable:
    return variable.kind


def _match(
    first: Sequence[Variable],
    second: Sequence[Variable],
    left: tuple[list[int], list[int]],
    group: Callable[[Variable], Hashable],
    contents: tuple[Content, Content],
    found: dict[int, VariableRename],
) -> None:
    """Move pairs of one group from what is `left` to what was `found`."""

    def take(pairs: Iterable[tuple[int, int]], *, same_values: bool) -> None:
        taken = dict(pairs)
        found.update((mine, VariableRename(other, same_values)) for mine, other in taken.items())
        others = set(taken.values())
        left[0][:] = [at for at in left[0] if at not in taken]
        left[1][:] = [at for at in left[1] if at not in others]

    def content(side: int, variables: Sequence[Variable]) -> Callable[[int], Hashable | None]:
        def tell(at: int) -> Hashable | None:
            held = contents[side](at)
            return None if held is None else (group(variables[at]), held)

        return tell

    take(_alone(left, content(0, first), content(1, second)), same_values=True)
    parts = [first[at].name.count("/") for at in left[0]] + [second[at].name.count("/") for at in left[1]]
    for length in range(max(parts, default=0) + 1, 0, -1):
        take(_alone(left, _end(first, length, group), _end(second, length, group)), same_values=False)
    take(_near(first, second, left, group), same_values=False)


def _alone(
    left: tuple[Sequence[int], Sequence[int]],
    mine: Callable[[int], Hashable | None],
    theirs: Callable[[int], Hashable | None],
) -> Sequence[tuple[int, int]]:
    """The pairs of which both tell the same, as one of each side does."""
    ours, others = (_grouped(places, told) for places, told in zip(left, (mine, theirs), strict=True))
    return [(of[0], others[key][0]) for key, of in ours.items() if len(of) == 1 == len(others.get(key, ()))]


def _grouped(places: Sequence[int], told: Callable[[int], Hashable | None]) -> Mapping[Hashable, Sequence[int]]:
    """The places by what is told of each; those without, of which that is None, are left out."""
    found: dict[Hashable, list[int]] = {}
    for at in places:
        if (key := told(at)) is not None:
            found.setdefault(key, []).append(at)
    return found


def _end(
    variables: Sequence[Variable], length: int, group: Callable[[Variable], Hashable]
) -> Callable[[int], Hashable | None]:
    def tell(at: int) -> Hashable | None:
        parts = variables[at].name.rsplit("/", length)[-length:]
        return (group(variables[at]), *parts) if len(parts) == length else None

    return tell


def _near(
    first: Sequence[Variable],
    second: Sequence[Variable],
    left: tuple[Sequence[int], Sequence[int]],
    group: Callable[[Variable], Hashable],
) -> Iterator[tuple[int, int]]:
    """Pairs with near names, among those of a group; where the others are many, none."""
    others = _grouped(left[1], lambda at: group(second[at]))
    for key, places in _grouped(left[0], lambda at: group(first[at])).items():
        known = {second[at].name: at for at in others.get(key, ())}
        if max(len(known), len(places)) > _MOST_OF_A_KIND:
            continue
        for at in places:
            for name in nearest(first[at].name, known, 1):
                yield at, known.pop(name)


def _first_of_several(
    first: Sequence[Variable], second: Sequence[Variable], left: tuple[Sequence[int], Sequence[int]]
) -> Iterator[tuple[int, int]]:
    """Pairs that are called alike where one side has one such variable; of several on the other side the first."""
    others = _grouped(left[1], lambda at: _called(second[at]))
    for key, places in _grouped(left[0], lambda at: _called(first[at])).items():
        if key in others and min(len(places), len(others[key])) == 1:
            yield places[0], others[key][0]
