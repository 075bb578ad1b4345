"""Which tensors of a call must be checked so that no NaN or infinity in any of them goes unseen."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import tensorflow as tf

from tfdbg_cli.analysis.folding import UNREAD, Constant, folded
from tfdbg_cli.analysis.transparency import CHECKABLE, Operand, Use, covering
from tfdbg_cli.analysis.undefined_outputs import is_undefined

_LARGEST_READ = 1 << 22  # elements of a constant that are read
# What the optimizer may remove, so that what they give is what they read; merged with others of their kind.
_MAYBE_NOTHING = frozenset(
    {
        "Identity", "Snapshot", "StopGradient", "PreventGradient", "Reshape", "ExpandDims", "Squeeze", "Transpose",
        "BroadcastTo", "Tile", "Cast", "Reverse", "ReverseV2", "Roll", "CheckNumerics", "EnsureShape", "Slice",
        "StridedSlice", "Pad", "PadV2", "MirrorPad", "Sum", "Mean", "Max", "Min", "Prod", "Pack", "ConcatV2",
        "Split", "SplitV", "AddN", "Bitcast", "Shuffle", "Neg", "Conj",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Frontier:
    """`checked` tensors that stand for `total`, which are all that can hold a NaN and were asked for.

    `given` are fed tensors that are no placeholders. They must be looked at as they are fed: the optimizer may take
    such a tensor for the constant that it would be, and compute what reads it, a check too, from that.
    """

    checked: tuple[Any, ...]
    given: tuple[Any, ...]
    total: int


def frontier(
    order: Sequence[Any],
    listed: Iterable[Any],
    fed_names: Collection[str],
    admits: Callable[[Any], bool],
    *,
    shown: Mapping[str, Collection[str]] = MappingProxyType({}),
    keeping: bool = False,
) -> Frontier:
    """The frontier of a call.

    Args:
        order: the ops that run, inputs first; without loops and branches.
        listed: their tensors, and those that are fed.
        fed_names: tensors whose ops are not asked.
        admits: which tensors to check; another covers nothing.
        shown: by the name of an op, the tensors whose values show in a variable that it writes and that is checked.
        keeping: infinities must be found as such; else a NaN may stand for one.

    """
    candidates = {tensor.name: tensor for tensor in listed if _can_be_bad(tensor, fed_names) and admits(tensor)}
    facts = _Facts(fed_names)
    covered: set[str] = set()
    for op in order:
        facts.learn(op)
        covered.update(shown.get(op.name, ()))
        own = {name for name in (tensor.name for tensor in op.inputs) if name in candidates and name not in covered}
        if not own or not any(_counts(tensor, candidates, fed_names) for tensor in op.outputs):
            continue
        use = facts.use(op)
        for position, tensor in enumerate(op.inputs):
            if tensor.name in own:
                slots = covering(use, position, keeping=keeping)
                if slots and all(_counts(op.outputs[slot], candidates, fed_names) for slot in slots):
                    covered.add(tensor.name)
    covered |= facts.finite & candidates.keys()
    given = tuple(t for name, t in candidates.items() if name in fed_names and not is_placeholder(t))
    covered |= {tensor.name for tensor in given}
    checked = tuple(tensor for name, tensor in candidates.items() if name not in covered)
    return Frontier(checked, given, len(candidates))


def is_placeholder(tensor: Any) -> bool:
    """Whether `tensor` is there to be fed."""
    return tensor.op.type in ("Placeholder", "PlaceholderV2")


def _can_be_bad(tensor: Any, fed_names: Collection[str]) -> bool:
    kind = tensor.dtype.base_dtype
    op = tensor.op
    if tensor.name not in fed_names and is_undefined(op.type, tensor.value_index, lambda name: _attribute(op, name)):
        return False
    return kind.name in CHECKABLE and (tensor.dtype == kind or tensor.name in fed_names)


def _counts(tensor: Any, candidates: Collection[str], fed_names: Collection[str]) -> bool:
    """Whether `tensor` is checked, or itself covered, and is what its op gives."""
    return tensor.name in candidates and tensor.name not in fed_names


class _Facts:
    """What is known of the tensors before the run."""

    def __init__(self, fed_names: Collection[str]) -> None:
        self._fed = fed_names
        self._constants: dict[str, Constant] = {}
        self.finite: set[str] = set()  # constants of the program that were looked at

    def learn(self, op: Any) -> None:
        """Find out whether `op` gives constants."""
        known = [self._constant(tensor) for tensor in op.inputs]
        if (
            op.inputs
            and not any(known)
            and op.type not in ("ZerosLike", "OnesLike", "Shape", "ShapeN", "Size", "Rank")
        ):
            return
        value = _value_of(op) if op.type == "Const" else None
        found = folded(op.type, op.op_def is None or bool(op.op_def.is_stateful), known, value)
        if found is not None:
            for tensor in op.outputs:
                self._constants[tensor.name] = found
            if op.type == "Const" and math.isfinite(found.largest) and op.outputs[0].name not in self._fed:
                self.finite.add(op.outputs[0].name)

    def use(self, op: Any) -> Use:
        """`op` as the table of transparent ops wants it."""
        return Use(
            op.type,
            [self._operand(tensor) for tensor in op.inputs],
            [self._operand(tensor) for tensor in op.outputs],
            lambda name: _attribute(op, name),
        )

    def _constant(self, tensor: Any) -> Constant | None:
        if tensor.name in self._fed:
            return None if is_placeholder(tensor) else UNREAD
        return self._constants.get(tensor.name)

    def _operand(self, tensor: Any) -> Operand:
        shape = None if tensor.shape.rank is None else tensor.shape.as_list()
        return Operand(tensor.dtype.base_dtype.name, shape, self._constant(tensor), self._source(tensor))

    def _source(self, tensor: Any) -> str:
        """Something that is the same for tensors that the optimizer may find to be the same.

        It merges equal ops on equal inputs, so that two tensors can be the same although they have different names:
        those of ops of one type count as such.
        """
        while tensor.name not in self._fed and tensor.op.type in _MAYBE_NOTHING and len(tensor.op.inputs):
            tensor = tensor.op.inputs[0]
        op = tensor.op
        alone = tensor.name in self._fed or not op.inputs or op.op_def is None or op.op_def.is_stateful
        return str(tensor.name) if alone and op.type != "Const" else str(op.type)


def _value_of(op: Any) -> Any:
    value = op.get_attr("value")
    size = 1
    for dim in value.tensor_shape.dim:
        size *= dim.size
    return tf.make_ndarray(value) if size <= _LARGEST_READ else None


def _attribute(op: Any, name: str) -> Any:
    try:
        return op.get_attr(name)
    except ValueError:
        return None
