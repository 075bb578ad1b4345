"""What is known of the tensors of a call before it runs: what the optimizer may fold, and take to be the same."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from tfdbg_cli.capture.tf.op_definitions import calls_functions, is_stateful
from tfdbg_cli.capture.tf.static_values import array_in, dimensions
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor
from tfdbg_cli.ops.folding import UNREAD, Constant, folded
from tfdbg_cli.ops.kinds import CHECKS, OF_SHAPES, PLACEHOLDERS, REPEATS, SAME_ELEMENTS
from tfdbg_cli.ops.transparency import Operand, Use

# What the optimizer may remove, so that what they give is what they read; merged with others of their kind.
MAYBE_NOTHING = SAME_ELEMENTS | CHECKS | REPEATS | {
    "Cast", "Slice", "StridedSlice", "Pad", "PadV2", "MirrorPad", "Sum", "Mean", "Max", "Min", "Prod", "Pack",
    "ConcatV2", "Split", "SplitV", "AddN", "Bitcast", "Shuffle", "Neg", "Conj",
}  # fmt: skip


class _Anything:
    """Equal to everything: the source of what a call gives, which may be any tensor outside or inside of it."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


ANYTHING = _Anything()


class Facts:
    """Facts of the tensors of a call whose ops it is told in their order, inputs first.

    `finite` names the constants of the program that were looked at and are finite.
    """

    def __init__(self, fed_names: Collection[str]) -> None:
        self._fed = fed_names
        self._constants: dict[str, Constant] = {}
        self.finite: set[str] = set()

    def learn(self, op: Op) -> None:
        """Find out whether `op` gives constants."""
        if calls_functions(op):  # which the optimizer may put in the place of the call
            self._constants.update((tensor.name, UNREAD) for tensor in op.outputs)
            return
        known = [self.constant(tensor) for tensor in op.inputs]
        if op.inputs and not any(known) and op.type not in OF_SHAPES:
            return
        value = array_of(op) if op.type == "Const" else None
        found = folded(op.type, is_stateful(op), known, value)
        if found is not None:
            for tensor in op.outputs:
                self._constants[tensor.name] = found
            if op.type == "Const" and math.isfinite(found.largest) and op.outputs[0].name not in self._fed:
                self.finite.add(op.outputs[0].name)

    def use(self, op: Op) -> Use:
        """`op` as the table of transparent ops wants it."""
        return Use(
            op.type,
            [self._operand(tensor) for tensor in op.inputs],
            [self._operand(tensor) for tensor in op.outputs],
            lambda name: attribute_of(op, name),
        )

    def constant(self, tensor: SymbolicTensor) -> Constant | None:
        """What the optimizer may take `tensor` for; None when it is certainly no constant."""
        if tensor.name in self._fed:
            return None if is_placeholder(tensor) else UNREAD
        return self._constants.get(tensor.name)

    def _operand(self, tensor: SymbolicTensor) -> Operand:
        return Operand(
            tensor.dtype.base_dtype.name, dimensions(tensor.shape), self.constant(tensor), self.source(tensor)
        )

    def source(self, tensor: SymbolicTensor) -> object:
        """Something that is the same for tensors that the optimizer may find to be the same.

        It merges equal ops on equal inputs, so that two tensors can be the same although they have different names:
        those of ops of one type count as such.
        """
        while tensor.name not in self._fed and tensor.op.type in MAYBE_NOTHING and len(tensor.op.inputs):
            tensor = tensor.op.inputs[0]
        op = tensor.op
        if tensor.name not in self._fed and calls_functions(op):
            return ANYTHING
        alone = tensor.name in self._fed or not op.inputs or is_stateful(op)
        return str(tensor.name) if alone and op.type != "Const" else str(op.type)


def array_of(op: Op) -> Any:
    """The array of a Const op; None when it is not read."""
    return array_in(op.get_attr("value"))


def attribute_of(op: Op, name: str) -> Any:
    """The attribute `name` of a tf.Operation; None when it has none of that name."""
    try:
        return op.get_attr(name)
    except ValueError:
        return None


def is_placeholder(tensor: SymbolicTensor) -> bool:
    """Whether `tensor` is there to be fed."""
    return tensor.op.type in PLACEHOLDERS
