"""Static facts about the tensors of a graph: which ones the optimizer may fold, and which ones may be the same."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Generic

from tfdbg_cli.ops.folding import UNREAD, Constant, folded
from tfdbg_cli.ops.kinds import CHECKS, COPIES, OF_SHAPES, REPEATS, SAME_ELEMENTS
from tfdbg_cli.ops.op_view import Name, OpView, TensorKind
from tfdbg_cli.ops.transparency import Operand, OpUse

# Ops that the optimizer may remove as no-ops, so that their output is the same tensor as their first input.
_MAYBE_NOTHING = SAME_ELEMENTS | CHECKS | REPEATS | {
    "Cast", "Slice", "StridedSlice", "Pad", "PadV2", "MirrorPad", "Sum", "Mean", "Max", "Min", "Prod", "Pack",
    "ConcatV2", "Split", "SplitV", "AddN", "Bitcast", "Shuffle", "Neg", "Conj",
}  # fmt: skip


class _Anything:
    """A source equal to every other: that of a function call's output, which may be the same as any tensor."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


ANYTHING = _Anything()


class Facts(Generic[Name]):
    """Collects facts about the tensors of a graph; `learn` has to be called for each op in topological order.

    With `merging`, assume that the optimizer may merge equal ops: then all outputs of ops of one type may be the same
    tensor. Without it, only copies are; that is right where functions/exact proves that nothing is merged.
    """

    def __init__(
        self,
        constants: Mapping[Name, Constant | None] = MappingProxyType({}),
        sources: Mapping[Name, object] = MappingProxyType({}),
        *,
        merging: bool,
    ) -> None:
        """Begin with facts about tensors from outside the graph; `learn` does not change those."""
        self._constants = dict(constants)
        self._sources = dict(sources)
        self._outside = frozenset((*constants, *sources))
        self._merging = merging

    def learn(self, op: OpView[Name]) -> None:
        """Find out whether the outputs of `op` may be folded to constants, and their sources."""
        outputs = [name for name in op.outputs if name not in self._outside] if self._outside else op.outputs
        calls_functions = op.calls_functions
        for name in outputs:
            self._learn_source(op, name, calls_functions)
        if calls_functions:
            self._constants.update(dict.fromkeys(outputs, UNREAD))
            return
        known = list(map(self._constants.get, op.inputs))
        if known and not any(known) and op.op_type not in OF_SHAPES:
            return
        found = folded(op.op_type, op.is_stateful, known, op.array)
        if found is not None:
            self._constants.update(dict.fromkeys(outputs, found))

    def _learn_source(self, op: OpView[Name], name: Name, calls_functions: bool) -> None:
        if not self._merging:
            if op.op_type in COPIES and op.inputs:
                self._sources[name] = self.source(op.inputs[0])
        elif calls_functions:
            self._sources[name] = ANYTHING
        elif op.op_type in _MAYBE_NOTHING and op.inputs:
            self._sources[name] = self.source(op.inputs[0])
        else:
            alone = op.op_type != "Const" and (not op.inputs or op.is_stateful)
            self._sources[name] = str(name) if alone else op.op_type

    def know_folded(self, name: Name) -> None:
        """Note that the optimizer may fold `name` to a constant with unknown elements."""
        self._constants[name] = UNREAD

    def constant(self, name: Name) -> Constant | None:
        """The constant to which the optimizer may fold `name`; None if it certainly does not."""
        return self._constants.get(name)

    def source(self, name: Name) -> object:
        """A key that compares equal for tensors that are, or may become, the same tensor."""
        return self._sources.get(name, ANYTHING if self._merging else name)

    def use(self, op: OpView[Name]) -> OpUse:
        """`op` with all facts about its inputs and outputs, as `transparency` needs it."""
        return OpUse(
            op.op_type,
            list(map(self._operand, op.inputs, op.inputs_are)),
            len(op.outputs),
            lambda slot: self._operand(op.outputs[slot], op.outputs_are[slot]),
            op.attribute,
        )

    def _operand(self, name: Name, kind: TensorKind) -> Operand:
        return Operand(kind.dtype, kind.shape, self.constant(name), self.source(name))
