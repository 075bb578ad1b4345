"""What a watch asks of each value that an eager op gives."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.analysis.datum import TensorDatum
from tfdbg_cli.analysis.filters import Tuned, bad_result, has_inf, has_inf_or_nan, has_nan
from tfdbg_cli.analysis.training_filters import gradient_norm_above, gradient_norm_below, unchanged_variable
from tfdbg_cli.analysis.undefined_outputs import is_undefined
from tfdbg_cli.capture import compat
from tfdbg_cli.capture.controller import Watched
from tfdbg_cli.capture.eager.recent import RESOURCE, EagerTensor, RecentOp
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.statistics import any_nonfinite
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.model.values import Array

# Ops whose outputs are finite where all that they read is: they choose, move, bound or negate elements.
_KEEP_FINITE = frozenset({
    "Identity", "IdentityN", "Reshape", "Transpose", "ExpandDims", "Squeeze", "StopGradient", "PreventGradient",
    "Snapshot", "Relu", "Relu6", "ReluGrad", "Relu6Grad", "Tanh", "Sigmoid", "Softsign", "Neg", "Abs", "Sign",
    "Floor", "Ceil", "Round", "Rint", "Maximum", "Minimum", "Max", "Min", "ConcatV2", "Pack", "Unpack", "Split",
    "SplitV", "Slice", "StridedSlice", "Gather", "GatherV2", "GatherNd", "Tile", "BroadcastTo", "Fill", "ZerosLike",
    "OnesLike", "Select", "SelectV2", "Pad", "PadV2", "MirrorPad", "Reverse", "ReverseV2", "MaxPool",
    "ResourceGather", "OneHot", "Const", "TopKV2", "Sin", "Cos", "ClipByValue",
})  # fmt: skip
# Dtypes, by number, whose elements are always finite.
_EXACT = frozenset(
    dtype.as_datatype_enum
    for dtype in (
        tf.bool, tf.string, tf.resource, tf.variant, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
        tf.uint32, tf.uint64,
    )
)  # fmt: skip
_MOST_KNOWN = 50_000
_FLOATS = "fc"
_LARGE = 8192  # elements from which on a product of BLAS is faster than NumPy's own look
# Filters that ask of a whole run, its graph and its order; they are asked when it is at its end.
_OF_RUNS = (gradient_norm_above, gradient_norm_below, unchanged_variable)


class Checks:
    """The question of one watch. It knows which tensors are settled, so that few are looked at."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        test = watched.tensor_filter
        self.at_ops = not any(test is one or (isinstance(test, Tuned) and test.test is one) for one in _OF_RUNS)
        # Whether it is about numbers that are wrong wherever they come up; else it is asked of runs only, and not of
        # what a program prepares for them.
        self.anywhere = test in (has_inf_or_nan, has_nan, has_inf, bad_result)
        # Whether only what becomes of variables counts.
        self.of_updates = test is bad_result
        self._finite_only = test is has_inf_or_nan or self.of_updates
        self._excluded = re.compile(watched.exclude_node_names).search if watched.exclude_node_names else None
        self._finite: set[int] = set()  # ids of tensors and of handles of variables
        self._before: set[int] = set()
        self._failed = False

    def bad(self, op: RecentOp, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[int]:
        """The outputs of `op`, which was given `inputs`, that the watch is for."""
        if self.of_updates:
            return []
        if not self._finite_only:
            return [slot for slot in range(len(op.outputs)) if self._passes(op, TensorName(op.name, slot), slot)]
        if op.op_type == "ReadVariableOp":
            handle = _id(inputs[0])
            fine = self._known(handle) or self._is_finite(op.outputs[0].value)
            if fine:
                self._note(handle)
        else:
            fine = op.op_type in _KEEP_FINITE and all(
                self._known(_id(given)) for given in inputs if _may_be_bad(given)
            )
        found = []
        for slot, output in enumerate(op.outputs):
            if fine or self._is_finite(output.value):
                self._note(compat.tensor_id(outputs[slot]))
            elif not is_undefined(op.op_type, slot, op.attribute):
                found.append(slot)
        return self._not_excluded(op.name, found)

    def bad_variable(self, name: str, handle: Any, value: Array) -> bool:
        """Whether the watch is for `value`, what the variable behind `handle` holds after the update `name`."""
        if not self._finite_only:
            return self._asks(name, 0, "UpdatedVariable", value)
        if self._is_finite(value):
            self._note(compat.tensor_id(handle))
            return False
        self._finite.discard(compat.tensor_id(handle))
        self._before.discard(compat.tensor_id(handle))
        return bool(self._not_excluded(name, [0]))

    def bad_update(self, inputs: Sequence[Any]) -> bool:
        """Whether an update is given what the watch is for."""
        return self.of_updates and not self.out_of_fine([given for given in inputs if not _is_handle(given)])

    def out_of_fine(self, inputs: Sequence[Any]) -> bool:
        """Whether nothing among `inputs` is known to be what the watch is for."""
        return all(_is_fine(given, self._known) for given in inputs)

    def forget_variables(self) -> None:
        """Something that is not seen, such as a function, may have updated variables."""
        self._finite.clear()
        self._before.clear()

    def _not_excluded(self, name: str, slots: list[int]) -> list[int]:
        return [] if slots and self._excluded is not None and self._excluded(name) else slots

    def _known(self, key: int) -> bool:
        return key in self._finite or key in self._before

    def _note(self, key: int) -> None:
        self._finite.add(key)
        if len(self._finite) > _MOST_KNOWN:  # those that are known longest are forgotten
            self._before, self._finite = self._finite, set()

    @staticmethod
    def _is_finite(value: Any) -> bool:
        return value is None or all_finite(value)

    def _passes(self, op: RecentOp, name: TensorName, slot: int) -> bool:
        value = op.outputs[slot].value
        if value is None or is_undefined(op.op_type, slot, op.attribute):
            return False
        return self._asks(name.node, slot, op.op_type, np.asarray(value))

    def _asks(self, node: str, slot: int, op_type: str, value: Array) -> bool:
        if self._excluded is not None and self._excluded(node):
            return False
        name = TensorName(node, slot)
        tensor = describe(name, value, device="", op_type=op_type, dtype=value.dtype.name)
        datum = TensorDatum(tensor, MemoryTensorStore([tensor], [value]), 0, Graph([Node(node, op_type, "")]))
        try:
            return bool(self.watched.tensor_filter(datum, value))
        except Exception:
            if self._failed:
                return False
            self._failed = True
            raise


def all_finite(value: Any) -> bool:
    """Whether an array or a NumPy scalar holds neither NaN nor infinity. Of a large array in one pass of BLAS."""
    kind = value.dtype.kind
    if kind not in _FLOATS and kind != "V":
        return True
    if kind == "f" and value.dtype.itemsize >= 4:
        if value.ndim == 0:
            return math.isfinite(value)
        flat = value.reshape(-1)
        if flat.size > _LARGE:
            with np.errstate(all="ignore"):
                if math.isfinite(np.dot(flat, flat)):  # else the square of a large number may be infinite
                    return True
        return bool(np.isfinite(flat).all())
    return not any_nonfinite(np.asarray(value))


def _id(given: Any) -> int:
    """The id of a tensor, or of the handle of a variable; 0, which none has, of anything else."""
    if type(given) is EagerTensor:
        return compat.tensor_id(given)
    handle = getattr(given, "handle", None)
    return compat.tensor_id(handle) if type(handle) is EagerTensor else 0


def _is_handle(given: Any) -> bool:
    return type(given) is EagerTensor and compat.dtype_number(given) == RESOURCE


def _may_be_bad(given: Any) -> bool:
    return type(given) is not EagerTensor or compat.dtype_number(given) not in _EXACT


def _is_fine(given: Any, known: Callable[[int], bool]) -> bool:
    if known(_id(given)) or not _may_be_bad(given):
        return True
    if type(given) is EagerTensor:
        return all_finite(compat.host_array(given))
    try:
        return not any_nonfinite(np.asarray(given))
    except (TypeError, ValueError):  # no numbers
        return True
