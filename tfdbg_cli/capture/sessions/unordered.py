"""Finds ops of a call that use the same thing in an order that the graph does not fix, so that TensorFlow takes any.

One more reader of a tensor can change that order, and so the numbers. That is why the run of such a call is left as
it is, and its replay is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tfdbg_cli.capture.sessions.holders import HANDING_ON
from tfdbg_cli.capture.sessions.reach import needs_of
from tfdbg_cli.capture.tf.opaque import is_opaque, is_reference
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor
from tfdbg_cli.ops.effects import Does, StatePlace, does, is_of_a_run
from tfdbg_cli.ops.kinds import ENTER, MERGE, PASSING, PYTHON, SWITCH, VARIABLES

_CALLED_IN_ORDER = PYTHON - {"PyFuncStateless"}

Writers = Mapping[str, Sequence[Op]]  # the ops of the call that write a variable, by the name of the op that holds it
_Side = tuple[str, int]  # the tensor that decides which output of a Switch is computed, and the number of the output

_OTHER_ORDER = (
    "Ops use {name} in no order that the graph fixes, and TensorFlow may have taken another one than left alone."
)


def doubt_of_order(name: str) -> str:
    """The sentence for a run that was changed although its ops use `name` in no fixed order; empty without a name."""
    return _OTHER_ORDER.format(name=name) if name else ""


def unordered(
    order: Sequence[Op], touching: Iterable[Op], ends: Iterable[Op], writers: Writers, fed_names: frozenset[str]
) -> str:
    """The name of a thing that one op of a call changes while others use it, in no fixed order; empty if none.

    Args:
        order: the ops of the call, inputs first.
        touching: those of them that may have to do with more than numbers, in the same order.
        ends: those whose outputs the program fetches, and those that it runs.
        writers: of the variables that the call writes.
        fed_names: tensors whose ops are not asked.

    """
    held = Held(touching, writers, fed_names)
    shared = [_Shared.of(thing, users, writers) for thing, users in held.uses.items()]
    # A fetch that shares a variable's memory shows its value at the end of the run, so writers must come before it.
    late = [(end.name, held.sharing[end.name]) for end in ends if end.name in held.sharing]
    marked = {name for one in shared for name in one.asked}
    marked.update(op.name for _, holder in late for op in writers[holder])
    if not marked:
        return ""
    places = _Places(order, marked)
    before = marks_before(order, places.marks, fed_names)
    sides: Mapping[str, frozenset[_Side]] | None = None
    for one in shared:
        for name, other in one.in_any_order(places, before):
            sides = _sides(order, fed_names) if sides is None else sides
            if not _exclude_each_other(sides.get(name, ()), sides.get(other, ())):
                return one.thing
    for end, holder in late:
        if any(not before.get(end, 0) & places.marks[op.name] for op in writers[holder]):
            return holder
    return ""


class _Places:
    """Where ops stand in the order in which they may run, as bits: `marks` by their names. Inputs come first."""

    def __init__(self, order: Iterable[Op], names: Collection[str]) -> None:
        placed = [op.name for op in order if op.name in names]
        self._names = [*placed, *sorted(set(names).difference(placed))]
        self.marks = {name: 1 << at for at, name in enumerate(self._names)}

    def all(self, names: Iterable[str]) -> int:
        """The marks of all `names` together."""
        found = 0
        for name in names:
            found |= self.marks[name]
        return found

    def of(self, marks: int) -> Iterator[str]:
        """The names of the ops with these marks."""
        while marks:
            yield self._names[(marks & -marks).bit_length() - 1]
            marks &= marks - 1


@dataclass(frozen=True)
class _Shared:
    """A thing, which ops use it, and which of a call change it; each in order."""

    thing: str
    users: Collection[str]
    changing: Collection[str]

    @classmethod
    def of(cls, thing: str, users: Collection[str], writers: Writers) -> _Shared:
        # Whatever draws from an iterator or a queue changes it.
        return cls(thing, users, dict.fromkeys(op.name for op in writers[thing]) if thing in writers else users)

    @property
    def asked(self) -> Collection[str]:
        """The ops whose order matters; none where there is but one, or none that changes it."""
        both = dict.fromkeys((*self.users, *self.changing))
        return both if self.users and self.changing and len(both) > 1 else ()

    def in_any_order(self, places: _Places, before: Mapping[str, int]) -> Iterator[tuple[str, str]]:
        """Two ops that use it, of which one changes it, and neither comes `before` the other.

        Thousands of ops may write one variable: so each is compared with all those in front of it at once, as bits.
        """
        names = self.asked
        if not names:
            return
        users, changing = places.all(self.users), places.all(self.changing)
        for name in names:
            mark = places.marks[name]
            others = (users if changing & mark else 0) | (changing if users & mark else 0)
            for other in places.of(others & (mark - 1) & ~before.get(name, 0)):
                yield other, name


class Held:
    """Which ops use things that can change: variables that are written, iterators, queues, Python.

    `uses` has the names of ops by the name of the thing. `sharing` has the names of ops whose first output shares the
    memory of a variable of the old kind, with the name of that variable.
    """

    def __init__(self, order: Iterable[Op], writers: Writers, fed_names: frozenset[str]) -> None:
        self.uses: dict[str, dict[str, None]] = {}
        self.sharing: dict[str, str] = {}
        self._holders: dict[str, str] = {name: name for name in writers}
        for op in order:
            if op.name in writers:
                if is_reference(op.outputs[0]):
                    self.sharing[op.name] = op.name
            elif op.type in _CALLED_IN_ORDER:
                self.uses.setdefault("Python", {})[op.name] = None
            elif not _has_no_order(op.type):
                for at, tensor in enumerate(op.inputs):
                    if tensor.name not in fed_names:
                        self._look_at(op, at, tensor)

    def _look_at(self, op: Op, at: int, tensor: SymbolicTensor) -> None:
        giver = str(tensor.op.name)
        holder = self._holders.get(giver)
        if holder is None and tensor.dtype.name == "resource" and not _is_of_nobody_else(tensor.op.type):
            holder = giver
        if holder is None or (giver in self.sharing and tensor.value_index):
            return
        given = op.outputs[0] if op.outputs and not at else None
        shares = giver in self.sharing and given is not None and (op.type in HANDING_ON or is_reference(given))
        if shares:
            self.sharing[op.name] = self._holders[op.name] = holder
        elif op.type in PASSING and given is not None and is_opaque(given):
            self._holders[op.name] = holder
            return
        self.uses.setdefault(holder, {})[op.name] = None


def _is_of_nobody_else(op_type: str) -> bool:
    """Whether a handle from an op of that type leads to something of one run alone, or to a variable.

    Variables that the call writes are known as holders already, so any other is not written, and its order is free.
    """
    return is_of_a_run(op_type) or op_type in VARIABLES


def _has_no_order(op_type: str) -> bool:
    """Whether the order of ops of that type does not matter: they only ask, or they are ordered by data edges.

    The latter holds for arrays and stacks of one run, whose ops pass a flow value to each other.
    """
    return does(op_type, {Does.ASKS}) or does(op_type, {Does.READS}, {StatePlace.TABLE}) or is_of_a_run(op_type)


def _sides(order: Sequence[Op], fed_names: Collection[str]) -> Mapping[str, frozenset[_Side]]:
    """By the name of each op in `order`, inputs first, what has to be decided so that it runs; nothing in loops.

    An op runs if all runs that it reads or waits for, a Merge if one of the tensors that it reads is computed. In a
    loop of version 1 each turn decides anew.
    """
    found: dict[str, frozenset[_Side]] = {op.name: frozenset() for op in order}
    if any(op.type in ENTER for op in order):
        return found

    def of(tensor: SymbolicTensor) -> frozenset[_Side]:
        giver = tensor.op
        if tensor.name in fed_names:
            return frozenset()
        decided = {(giver.inputs[1].name, tensor.value_index)} if giver.type in SWITCH else set()
        return found.get(giver.name, frozenset()) | decided

    for op in order:
        needs = list(map(of, op.inputs))
        together = frozenset.intersection if op.type in MERGE else frozenset[_Side]().union
        waits = (found.get(waited.name, frozenset()) for waited in op.control_inputs)
        found[op.name] = together(*needs).union(*waits)
    return found


def _exclude_each_other(one: Iterable[_Side], other: Iterable[_Side]) -> bool:
    """Whether two ops never run both, since the one needs another output of a Switch than the other."""
    decided = dict(one)
    return any(decided.get(tensor, output) != output for tensor, output in other)


def marks_before(
    order: Sequence[Op], marks: Mapping[str, int], fed_names: Collection[str], *, turns: bool = False
) -> dict[str, int]:
    """By the name of each op in `order`, inputs first, the `marks` (bits) of all ops before it, and its own.

    With `turns` those that come before it by way of an earlier turn of a loop of version 1 count, too.
    """
    found: dict[str, int] = {}
    while True:
        known = dict(found)
        for op in order:
            mark = marks.get(op.name, 0) | found.get(op.name, 0)
            for need in needs_of(op, fed_names):
                mark |= found.get(need.name, 0)
            found[op.name] = mark
        if not turns or found == known:
            return found
