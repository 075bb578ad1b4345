"""What a tape hands to a gradient of a variable that an op of the forward pass was given itself.

TensorFlow reads such a variable for the op (`OnTheWay`), and the tape keeps what it read: a tensor that no op of the
log gave. When it comes, the variable was not updated yet as a rule, so it is known by its memory, which is that of
the variable until an update puts another in its place; a single number, which has no memory to compare, by its bits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.runs.eager.log.noted_ops import OnTheWay, OutsideInput, RecentOp
from tfdbg_cli.capture.runs.eager.program.places import scope_of_tape
from tfdbg_cli.model.exactness import same_bits

_Shape: TypeAlias = "tuple[int, ...] | None"


class TapeReads:
    """The variables that were read on the way; `held` tells what one holds now, None where it is gone.

    With `shared` memory an array that tells a tensor is the tensor's own memory, as on a machine without GPUs.
    """

    def __init__(self, held: Callable[[OnTheWay], Any], *, shared: bool) -> None:
        self._held = held
        self._is_same = _is_same if shared else _has_same_bits
        # By dtype and shape, None where that may change, the last read of each variable by the id of its handle.
        self._known: defaultdict[tuple[int, _Shape], dict[int, OnTheWay]] = defaultdict(dict)

    def note(self, read: OnTheWay, shape: tf.TensorShape) -> None:
        """Note the read of a variable of that shape, which need not be known."""
        sizes = None if shape.rank is None else tuple(shape)
        known = None if sizes is None or None in sizes else sizes
        self._known[read.dtype, known][read.handle.key] = read

    def of(self, dtype: int, value: Any) -> OnTheWay | None:
        """The read that gave `value`, of a tensor that no op gave; None where none did, or one of two may have."""
        if not self._known:
            return None
        shapes: tuple[_Shape, ...] = (value.shape, None)
        known = (read for shape in shapes for read in self._known.get((dtype, shape), {}).values())
        found = [read for read in known if self._is_same(self._held(read), value)]
        return found[0] if len(found) == 1 else None


def link_to_reads(ops: Sequence[RecentOp], reads: Mapping[int, RecentOp]) -> None:
    """Have the gradients among `ops` read what `reads` gave, by the ids of what was read on the way, where they did.

    A number of the program's is none of a variable that happens to hold the same, and neither is what an op of the
    forward pass was given.
    """
    if not reads:
        return
    gradients = [op for op in ops if scope_of_tape(op.stack)]
    among = {id(op) for op in gradients}
    others = {id(given) for op in ops if id(op) not in among for given in op.inputs}
    numbers: list[Any] | None = None
    for op in gradients:
        for at, given in enumerate(op.inputs):
            if not isinstance(given, OutsideInput) or (shown := given.shows) is None:
                continue
            if id(shown) not in reads or id(given) in others:
                continue
            if not given.given.ndim:
                numbers = _numbers_in(ops) if numbers is None else numbers
                if given.given in numbers:
                    continue
            read = reads[id(shown)]
            if shown.value is None:  # the variable may have been updated since
                read.outputs = [(0, shown.dtype, given.given)]
            op.inputs[at] = read, 0


def _numbers_in(ops: Sequence[RecentOp]) -> list[Any]:
    """The numbers of Python that ops were given."""
    outside = (one for op in ops for one in op.inputs if isinstance(one, OutsideInput))
    return [one.given for one in outside if isinstance(one.given, (int, float))]


def _is_same(held: Any, value: Any) -> bool:
    """Whether two arrays are the same memory, or two numbers have the same bits."""
    if isinstance(held, np.ndarray) and isinstance(value, np.ndarray):
        return bool(held.size) and held.shape == value.shape and held.ctypes.data == value.ctypes.data
    return _has_same_bits(held, value)


def _has_same_bits(held: Any, value: Any) -> bool:
    return held is not None and same_bits(np.asarray(held), np.asarray(value))
