"""Which variables of a program a checkpoint would fill: by its objects, as TensorFlow restores, or by names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from tfdbg_cli.analysis.variables.listing import Variable
from tfdbg_cli.analysis.variables.pairs import fits, paired
from tfdbg_cli.analysis.variables.partitions import with_wholes
from tfdbg_cli.analysis.variables.renames import VariableRename, renames
from tfdbg_cli.model.dtypes import element_type_named
from tfdbg_cli.model.restoring import ProgramObject, ProgramVariable, ProgramVariables, SavedObject
from tfdbg_cli.model.walks import nearest_first

_SLOT = "/.OPTIMIZER_SLOT/"
_COUNTER = "save_counter"  # which tf.train.Checkpoint makes when it restores


@dataclass(frozen=True, slots=True)
class Filling:
    """What came of it. `rows` are the variables of the program; numbers are places there, or in the checkpoint.

    `pairs` are those of which one would take the value of the other, `misfits` such pairs of another shape or dtype:
    there TensorFlow raises. `suggested` has by variables that are not filled what may be meant for them.

    `by_objects` says how the pairs were found: from one of the `roots` checkpoint objects by which the program may
    restore, whose names for its children are `root`. `elsewhere` are then variables that are not filled since only
    other checkpoint objects lead to them, `outside` those to which none does, as to the metrics of Keras.
    """

    rows: Sequence[Variable]
    pairs: Sequence[tuple[int, int]]
    misfits: Sequence[tuple[int, int]]
    not_filled: Sequence[int]
    not_taken: Sequence[int]
    outside: Sequence[int] = ()
    elsewhere: Sequence[int] = ()
    by_objects: bool = False
    root: Sequence[str] = ()
    roots: int = 0
    suggested: Mapping[int, VariableRename] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether every variable is filled that could be, and every value taken."""
        return not (self.misfits or self.not_filled or self.not_taken)


def filled(program: ProgramVariables, saved: Sequence[Variable], objects: Sequence[SavedObject]) -> Filling:
    """What the variables of `program` would take of `saved`, which was written from `objects`, or none of them."""
    by_objects = bool(objects and program.roots)
    led_to: Set[int] | None = None
    led_to_by_any: Set[int] = set()
    root: Sequence[str] = ()
    if by_objects:
        rows: Sequence[Variable] = list(map(_row, program.variables))
        ways = [restored(one, objects) for one in program.roots]
        best = max(range(len(ways)), key=lambda at: len(ways[at]))
        led_to = _reached(program.roots[best])
        led_to_by_any = {*program.led_to}.union(*map(_reached, program.roots))
        root = [name for name in program.roots[best][0].children if name != _COUNTER]
        pairs = _by_objects(ways[best], rows, saved)
    else:
        rows = with_wholes(list(map(_row, program.variables)), saved)
        pairs = list(paired(rows, saved).pairs)
    ours, theirs = {at for at, _ in pairs}, {at for _, at in pairs}
    left = [at for at in range(len(rows)) if at not in ours]
    apart = [at for at in left if led_to is not None and at not in led_to]
    not_taken = [at for at, one in enumerate(saved) if at not in theirs and not (by_objects and one.name == _COUNTER)]
    return Filling(
        rows,
        pairs,
        misfits=[(mine, other) for mine, other in pairs if not _fit(rows[mine], saved[other])],
        not_filled=[at for at in left if led_to is None or at in led_to],
        not_taken=not_taken,
        outside=[at for at in apart if at not in led_to_by_any],
        elsewhere=[at for at in apart if at in led_to_by_any],
        by_objects=by_objects,
        root=root,
        roots=len(program.roots),
        suggested=renames(rows, saved, left, not_taken, (lambda at: None, lambda at: None)),
    )


def restored(program: Sequence[ProgramObject], saved: Sequence[SavedObject]) -> Mapping[int, str]:
    """By variables of the program the keys whose values they would take; the first object of both is the root.

    TensorFlow walks both from there by the names of the children, nearest first, and pairs each saved object once.
    """
    found: dict[int, str] = {}
    paired_with: dict[int, int] = {}

    def further(pair: tuple[int, int]) -> Iterable[tuple[int, int]]:
        ours, theirs = pair
        if paired_with[theirs] != ours:
            return
        children = saved[theirs].children
        for name, mine in program[ours].children.items():
            other = children.get(name, -1)
            if 0 <= other < len(saved):
                yield mine, other

    for (ours, theirs), _ in nearest_first([(0, 0)] if program and saved else [], further):
        variable, keys = program[ours].variable, saved[theirs].keys
        if paired_with.setdefault(theirs, ours) == ours and variable is not None and keys:
            found.setdefault(variable, keys[0])
    return found


def _reached(objects: Sequence[ProgramObject]) -> Set[int]:
    return {one.variable for one in objects if one.variable is not None}


def _by_objects(
    ways: Mapping[int, str], rows: Sequence[Variable], saved: Sequence[Variable]
) -> list[tuple[int, int]]:
    """The pairs that objects lead to, and what an optimizer of old keeps, which is found by what it is called.

    That is no child of it, and is restored where the optimizer is: where something else of it was found.
    """
    places = {one.key or one.name: at for at, one in enumerate(saved)}
    found = {mine: places[key] for mine, key in ways.items() if key in places}
    names = {one.name: at for at, one in enumerate(rows) if at not in found}
    taken = set(found.values())
    met = {"/".join(parts[:end]) for key in ways.values() for parts in [key.split("/")] for end in range(len(parts))}
    for at, one in enumerate(saved):
        if at in taken or _SLOT not in one.key or _optimizer(one.key) not in met:
            continue
        mine = next((names.pop(name) for name in _ends(one.full_name) if name in names), None)
        if mine is not None:
            found[mine] = at
    return sorted(found.items())


def _optimizer(key: str) -> str:
    """The way to the optimizer that keeps what a checkpoint calls `key`."""
    return key.partition(_SLOT)[2].partition("/.ATTRIBUTES/")[0].rpartition("/")[0]


def _ends(name: str) -> Iterator[str]:
    """`name`, then what is left of it without the first of its parts: of a trace a variable has no more."""
    parts = name.split("/")
    for begin in range(len(parts)):
        yield "/".join(parts[begin:])


def _row(variable: ProgramVariable) -> Variable:
    element = element_type_named(variable.dtype)
    row = Variable(variable.name, "", variable.dtype, variable.shape)
    size = None if element is None or element.itemsize is None or row.elements is None else element.itemsize
    return row if size is None else Variable(row.name, "", row.dtype, row.shape, size * (row.elements or 0))


def _fit(mine: Variable, other: Variable) -> bool:
    return fits(mine.shape, other.shape) and (mine.dtype == other.dtype or not (mine.dtype and other.dtype))
