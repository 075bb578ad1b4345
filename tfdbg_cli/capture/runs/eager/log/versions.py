"""What variables held between their updates by eager ops, found when somebody looks.

The log does not read a variable at each update, since most updates are forgotten unseen. What it held since is known
from whatever else the log has: a read of it before the next update, what it was assigned, or what was added to what
it held before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from tfdbg_cli.capture.runs.eager.log.noted_ops import OutsideInput, Read, RecentOp
from tfdbg_cli.capture.runs.eager.log.updates import ASSIGNS, READS, Updates, handle_key, read_behind
from tfdbg_cli.model.exactness import same_bits
from tfdbg_cli.model.values import Array, known_array

_SUMS: Mapping[str, Callable[[Array, Array], Array]] = MappingProxyType(
    {"AssignAddVariableOp": np.add, "AssignSubVariableOp": np.subtract}
)
_MOST_SUMMED = 1 << 26  # bytes of sums that are computed


@dataclass(eq=False, slots=True)
class Version:
    """What a variable held from one update to the next: `before` that of the update `by`, if known."""

    by: RecentOp | None = None
    before: Version | None = None
    noted: Array | None = None  # by the log at the update
    reads: list[RecentOp] = field(default_factory=list)
    value: Array | None = None


class Versions:
    """The versions of all variables that `ops` of a log read and update, in the order in which they ran."""

    def __init__(self, ops: Sequence[RecentOp], updates: Updates, held: Callable[[Read], Array | None]) -> None:
        """`held` returns what the log itself holds of an input of an op; None where that is nothing."""
        self._ops, self._updates, self._held = ops, updates, held
        self._summed = 0

    def read_by(self, op: RecentOp) -> Array | None:
        """What the variable held whose memory `op` gave: it read the variable, or handed on what was read."""
        behind = read_behind(op)
        version = None if behind is None else self._found[0].get(id(behind))
        return None if version is None else version.value

    def written_by(self, op: RecentOp, variable: OutsideInput) -> Array | None:
        """What `variable` held after `op` had updated it."""
        version = self._found[1].get((id(op), variable.key))
        return None if version is None else version.value

    @cached_property
    def _found(self) -> tuple[Mapping[int, Version], Mapping[tuple[int, int], Version]]:
        """The versions by the ids of the ops that read them, and by those of the ops and variables that made them."""
        read: dict[int, Version] = {}
        written: dict[tuple[int, int], Version] = {}
        latest: dict[int, Version] = {}
        every: list[Version] = []
        for op in self._ops:
            if op.op_type == READS:
                key = handle_key(op)
                if key not in latest:
                    latest[key] = Version()
                    every.append(latest[key])
                read[id(op)] = latest[key]
                latest[key].reads.append(op)
                continue
            before = self._updates.held_before(op.number)
            if before is not None and before[0] in latest:
                latest[before[0]].noted = before[1]
            noted = [(variable.key, known_array(value)) for variable, value in op.written]
            for key, value in (*noted, *((key, None) for key in self._updates.unseen_by(op.number))):
                latest[key] = written[id(op), key] = Version(op, latest.get(key), value)
                every.append(latest[key])
        for version in every:  # each is told by its own reads or by versions before it
            version.value = self._value(version, read)
        return read, written

    def _value(self, version: Version, read: Mapping[int, Version]) -> Array | None:
        """The value of `version`; None where nothing tells it, or two reads of it are not equal."""
        if version.noted is not None:
            return version.noted
        reads = [value for op in version.reads if (value := self._held((op, 0))) is not None]
        if reads:  # those that differ show an update that the log did not see, such as one of another thread
            return reads[0] if all(same_bits(reads[0], value) for value in reads[1:]) else None
        op = version.by
        if op is None or (op.op_type != ASSIGNS and op.op_type not in _SUMS):
            return None
        given = self._held(op.inputs[1])
        if given is None and not isinstance(op.inputs[1], OutsideInput):
            behind = read_behind(op.inputs[1][0])
            given = None if behind is None or id(behind) not in read else read[id(behind)].value
        if given is None or op.op_type == ASSIGNS:
            return given
        return None if version.before is None else self._sum(op.op_type, version.before.value, given)

    def _sum(self, op_type: str, before: Array | None, given: Array) -> Array | None:
        """What an update by addition made of `before`, where NumPy is known to compute the same bits."""
        if before is None or given.shape != before.shape or not (_is_plain(before) and _is_plain(given)):
            return None
        self._summed += before.nbytes
        if self._summed > _MOST_SUMMED or given.dtype != before.dtype:
            return None
        with np.errstate(all="ignore"):
            summed = np.asarray(_SUMS[op_type](before, given))
        return summed if _is_plain(summed) else None


def _is_plain(array: Array) -> bool:
    """Whether `array` adds up alike everywhere: integers, and finite floats of 32 or 64 bits, none of them subnormal.

    TensorFlow takes subnormal numbers for 0 in some threads, and the bits of a NaN depend on the processor.
    """
    if array.dtype.kind in "iu":
        return True
    if array.dtype.kind != "f" or array.dtype.itemsize < 4:
        return False
    return bool(np.all(np.isfinite(array) & ((array == 0) | (np.abs(array) >= np.finfo(array.dtype).tiny))))
