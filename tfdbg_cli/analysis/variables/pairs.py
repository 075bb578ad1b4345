"""Which variable of one place is which of another one: by names, as programs and checkpoints give them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.variables.listing import PartialShape, Variable


@dataclass(frozen=True, slots=True)
class Paired:
    """Places of variables that are the same one, and those of the others."""

    pairs: tuple[tuple[int, int], ...]
    only_first: tuple[int, ...]
    only_second: tuple[int, ...]


def paired(first: Sequence[Variable], second: Sequence[Variable]) -> Paired:
    """The pairs of `first` and `second`: those of one name, then by what the program calls them, then by ends.

    A checkpoint may name a variable by the way to it through the program's objects (it has a key then), and say what
    the program calls it; the way in another file may be longer: `model/w` is `w` where no other one could be. Names
    that are no ways are not cut: TensorFlow restores those by their whole.
    """
    found: dict[int, int] = {}
    taken: set[int] = set()
    for told in (_name, _called):
        _pair(first, second, told, found, taken)
    left = [at for at in range(len(first)) if at not in found], [at for at in range(len(second)) if at not in taken]
    for ours, theirs in _by_ends(first, second, *left):
        if ours not in found and theirs not in taken:
            found[ours] = theirs
            taken.add(theirs)
    return Paired(
        tuple(sorted(found.items())),
        tuple(at for at in range(len(first)) if at not in found),
        tuple(at for at in range(len(second)) if at not in taken),
    )


def fits(first: PartialShape | None, second: PartialShape | None) -> bool:
    """Whether two shapes may be the same one, as far as they are known."""
    if first is None or second is None:
        return True
    return len(first) == len(second) and all(
        one is None or other is None or one == other for one, other in zip(first, second, strict=True)
    )


def _name(variable: Variable) -> str:
    return variable.name


def _called(variable: Variable) -> str:
    return variable.full_name or variable.name


def _pair(
    first: Sequence[Variable],
    second: Sequence[Variable],
    told: Callable[[Variable], str],
    found: dict[int, int],
    taken: set[int],
) -> None:
    """Add the pairs of which `told` says the same, where it does so of one on each side."""
    ours = _once(first, (at for at in range(len(first)) if at not in found), told)
    theirs = _once(second, (at for at in range(len(second)) if at not in taken), told)
    for name, at in ours.items():
        other = theirs.get(name)
        if other is not None:
            found[at] = other
            taken.add(other)


def _once(variables: Sequence[Variable], places: Iterable[int], told: Callable[[Variable], str]) -> Mapping[str, int]:
    by_name: dict[str, list[int]] = {}
    for at in places:
        by_name.setdefault(told(variables[at]), []).append(at)
    return {name: found[0] for name, found in by_name.items() if len(found) == 1}


def _by_ends(
    first: Sequence[Variable], second: Sequence[Variable], ours: Sequence[int], theirs: Sequence[int]
) -> Iterable[tuple[int, int]]:
    """Pairs of which one name is the end of the other one, where there is one such variable, of the same shape."""
    for mine, others, mine_first in ((ours, theirs, True), (theirs, ours, False)):
        short, long = (first, second) if mine_first else (second, first)
        ends: dict[str, list[int]] = {}
        for at in others:
            parts = long[at].name.split("/")
            for begin in range(1, len(parts)):
                ends.setdefault("/".join(parts[begin:]), []).append(at)
        for at in mine:
            longer = ends.get(short[at].name, ())
            if len(longer) != 1 or not (short[at].key or long[longer[0]].key):
                continue
            if fits(short[at].shape, long[longer[0]].shape):
                yield (at, longer[0]) if mine_first else (longer[0], at)
