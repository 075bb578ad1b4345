"""Partitioned variables: a program has one for each part, and a checkpoint holds all of them under one name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tfdbg_cli.analysis.variables.listing import PartialShape, Variable
from tfdbg_cli.analysis.variables.pairs import fits

_PART = re.compile(r"(?P<whole>.+)/part_\d+(?P<behind>/.+)?$")  # a slot of a part has more behind


def with_wholes(rows: Sequence[Variable], held: Sequence[Variable]) -> Sequence[Variable]:
    """`rows` with one variable in the place of the parts of each that `held` has whole; they stand at the end.

    TensorFlow cuts along one axis. Where the parts do not tell which, it is the one that would make the shape that is
    held, else one that would make all but its size, else the first. Parts of no one variable are left as they are.
    """
    whole_there = {one.name: one for one in held}
    alone = [at for at, one in enumerate(rows) if one.name not in whole_there]
    wholes: list[Variable] = []
    put_together: set[int] = set()
    for name, places in parts_by_whole(rows, alone).items():
        whole = _whole(name, [rows[at] for at in places], whole_there[name].shape) if name in whole_there else None
        if whole is not None:
            wholes.append(whole)
            put_together.update(places)
    return [*(one for at, one in enumerate(rows) if at not in put_together), *wholes] if wholes else rows


def parts_by_whole(variables: Sequence[Variable], places: Sequence[int]) -> Mapping[str, Sequence[int]]:
    """By the name under which a checkpoint would hold them all the places of those that are parts."""
    found: dict[str, list[int]] = {}
    for at in places:
        match = _PART.match(variables[at].name)
        if match is not None:
            found.setdefault(match["whole"] + (match["behind"] or ""), []).append(at)
    return found


def _whole(name: str, parts: Sequence[Variable], held: PartialShape | None) -> Variable | None:
    """The variable that `parts` make up, which is held in the shape `held`; None where they cannot make up one."""
    if len({one.dtype for one in parts}) > 1:
        return None
    shapes = [one.shape for one in parts if one.shape is not None]
    shape: PartialShape | None = None
    if len(shapes) == len(parts):
        made = list(_made_up(shapes))
        if not made:
            return None
        shape = max(made, key=lambda one: (fits(one, held), _agreeing(one, held)))  # of the best the first
    sizes = [one.nbytes for one in parts if one.nbytes is not None]
    nbytes = sum(sizes) if len(sizes) == len(parts) else None
    return replace(parts[0], name=name, shape=shape, nbytes=nbytes, rows=(), slot_of="")


def _made_up(shapes: Sequence[PartialShape]) -> Iterator[PartialShape]:
    """The shapes that those of all parts make up, put together along each axis along which that can be."""
    first = shapes[0]
    if any(len(shape) != len(first) for shape in shapes):
        return
    for axis in range(len(first)):
        around = first[:axis], first[axis + 1 :]
        if all(fits(shape[:axis], around[0]) and fits(shape[axis + 1 :], around[1]) for shape in shapes):
            sizes = [shape[axis] for shape in shapes]
            yield (*around[0], None if None in sizes else sum(size or 0 for size in sizes), *around[1])


def _agreeing(shape: PartialShape, held: PartialShape | None) -> int:
    """How many sizes of both are the same."""
    return 0 if held is None else sum(one == other for one, other in zip(shape, held, strict=False))
