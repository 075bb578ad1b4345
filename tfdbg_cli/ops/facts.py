"""What is known of the tensors of a graph before it runs: what the optimizer may fold, and take to be the same."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Generic

from tfdbg_cli.ops.folding import UNREAD, Constant, folded
from tfdbg_cli.ops.kinds import CHECKS, COPIES, OF_SHAPES, REPEATS, SAME_ELEMENTS
from tfdbg_cli.ops.op_view import Kind, Name, OpView
from tfdbg_cli.ops.transparency import Operand, Use

# What the optimizer may remove, so that what they give is what they read; merged with others of their kind.
_MAYBE_NOTHING = SAME_ELEMENTS | CHECKS | REPEATS | {
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


class Facts(Generic[Name]):
    """Facts of the tensors of a graph whose ops it is told in their order, inputs first.

    With `merging` the optimizer may merge equal ops on equal inputs, so that tensors can be the same although they
    have different names: those of ops of one type count as such. Without, a proof holds it (functions/exact).
    """

    def __init__(
        self,
        constants: Mapping[Name, Constant | None] = MappingProxyType({}),
        sources: Mapping[Name, object] = MappingProxyType({}),
        *,
        merging: bool,
    ) -> None:
        """Begin with what is known of tensors that come from outside, whatever op gives a tensor of their names."""
        self._constants = dict(constants)
        self._sources = dict(sources)
        self._outside = frozenset((*constants, *sources))
        self._merging = merging

    def learn(self, op: OpView[Name]) -> None:
        """Find out whether `op` gives constants, and what is the same as what it gives."""
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
        """Take note that the optimizer may take `name` for a constant of which nothing is known."""
        self._constants[name] = UNREAD

    def constant(self, name: Name) -> Constant | None:
        """What the optimizer may take `name` for; None when it is certainly no constant."""
        return self._constants.get(name)

    def source(self, name: Name) -> object:
        """Something that is the same for tensors that hold the same value, or may."""
        return self._sources.get(name, ANYTHING if self._merging else name)

    def use(self, op: OpView[Name]) -> Use:
        """`op` as the table of transparent ops wants it."""
        return Use(
            op.op_type,
            list(map(self._operand, op.inputs, op.inputs_are)),
            list(map(self._operand, op.outputs, op.outputs_are)),
            op.attribute,
        )

    def _operand(self, name: Name, kind: Kind) -> Operand:
        return Operand(kind.dtype, kind.shape, self.constant(name), self.source(name))
