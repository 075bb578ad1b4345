"""Which ops of a log updated which variables, and what these held then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfdbg_cli.capture.runs.eager.log.noted_ops import OutsideInput, RecentOp
from tfdbg_cli.model.values import Array, Value

READS = "ReadVariableOp"
ASSIGNS = "AssignVariableOp"  # its second input is the new value of the variable


class Updates:
    """The updates of variables by ops, which are known by their numbers; variables by the ids of their handles."""

    def __init__(self) -> None:
        self._by_op: dict[int, list[tuple[OutsideInput, Value]]] = {}
        self._unseen: dict[int, list[int]] = {}  # by op, variables that it may have updated
        self._before: dict[int, tuple[int, Array]] = {}  # by op, a variable that it updated, and what that had held
        self._last: dict[int, int] = {}  # by variable, the op that updated it last

    def note(self, op: int, variable: OutsideInput, value: Value) -> None:
        """Note that `op` updated `variable`, which held `value` then."""
        self._by_op.setdefault(op, []).append((variable, value))
        self._last[variable.key] = op

    def note_unseen(self, op: int, variables: Iterable[int]) -> None:
        """Note that `op`, a call of a function, may have updated `variables`: to what is not known."""
        unseen = self._unseen.setdefault(op, [])
        unseen += variables
        self._last.update(dict.fromkeys(unseen, op))

    def note_before(self, op: int, variable: int, held: Array) -> None:
        """Note what the variable with that id `held` before `op` updated it."""
        self._before[op] = variable, held

    def held_before(self, op: int) -> tuple[int, Array] | None:
        """The id of a variable that `op` updated, and what it held before; None where nobody noted that."""
        return self._before.get(op)

    def by(self, op: int) -> Sequence[tuple[OutsideInput, Value]]:
        """What `op` updated, with the values that it noted."""
        return self._by_op.get(op, ())

    def unseen_by(self, op: int) -> Sequence[int]:
        """The ids of the handles of the variables that `op` may have updated to what is not known."""
        return self._unseen.get(op, ())

    def forget(self, op: int) -> None:
        """Forget the values that `op` gave to variables; that it updated them stays known."""
        self._by_op.pop(op, None)
        self._before.pop(op, None)
        self._unseen.pop(op, None)

    def is_updated(self, variable: int) -> bool:
        """Whether any op updated `variable`."""
        return variable in self._last

    def is_updated_after(self, variable: OutsideInput, op: int) -> bool:
        """Whether an op behind `op` updated `variable`."""
        return self._last.get(variable.key, -1) > op

    def variable_read_by(self, op: RecentOp) -> OutsideInput | None:
        """The handle of the variable that `op` has read, directly or through ops that hand its memory on.

        None if the variable was updated since, or is not known any more.
        """
        read = read_behind(op)
        source = read.inputs[0] if read is not None and read.inputs else None
        if read is None or not isinstance(source, OutsideInput) or self.is_updated_after(source, read.number):
            return None
        return source


def read_behind(op: RecentOp) -> RecentOp | None:
    """The read of a variable whose memory `op` gave: itself, or the one before ops that hand memory on."""
    while op.op_type != READS:
        if not op.inputs or isinstance(op.inputs[0], OutsideInput):
            return None
        op = op.inputs[0][0]
    return op


def handle_key(read: RecentOp) -> int:
    """The id of the handle by which `read` read a variable; 0 where it is not known any more."""
    if not read.inputs:
        return 0
    source = read.inputs[0]
    if isinstance(source, OutsideInput):
        return source.key
    op, slot = source
    return op.outputs[slot][0] if slot < len(op.outputs) else 0
