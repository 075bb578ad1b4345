"""Ops of a tf.Graph as `ops/op_view.py` has them, and what is known of a call's tensors before it runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from tfdbg_cli.capture.sessions.reach import has_tensor
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.op_definitions import calls_functions, is_stateful
from tfdbg_cli.capture.tf.opaque import dtype_name
from tfdbg_cli.capture.tf.static_values import array_in
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor
from tfdbg_cli.ops.facts import Facts
from tfdbg_cli.ops.folding import UNREAD
from tfdbg_cli.ops.kinds import PLACEHOLDERS
from tfdbg_cli.ops.op_view import Kind


class GraphOp:
    """A tf.Operation (`OpView`); its tensors go by their names.

    `kinds` are those of the tensors whose readers and makers were asked before, by name.
    """

    def __init__(self, op: Op, kinds: dict[str, Kind] | None = None) -> None:
        self.op = op
        self.op_type = str(op.type)
        self._read: Sequence[SymbolicTensor] = op.inputs
        self._kinds = {} if kinds is None else kinds
        self.inputs: Sequence[str] = [tensor.name for tensor in self._read]
        self.outputs: Sequence[str] = [tensor.name for tensor in op.outputs]

    @property
    def inputs_are(self) -> Sequence[Kind]:
        return list(map(self._kind, self.inputs, self._read))

    @property
    def outputs_are(self) -> Sequence[Kind]:
        return list(map(self._kind, self.outputs, self.op.outputs))

    def _kind(self, name: str, tensor: SymbolicTensor) -> Kind:
        known = self._kinds.get(name)
        if known is None:
            known = self._kinds[name] = kind_of(tensor)
        return known

    @property
    def is_stateful(self) -> bool:
        return is_stateful(self.op)

    @property
    def calls_functions(self) -> bool:
        return calls_functions(self.op)

    @property
    def array(self) -> Any:
        return array_in(self.op.get_attr("value")) if self.op.type == "Const" else None

    def attribute(self, name: str) -> Any:
        return attribute_of(self.op, name)


def kind_of(tensor: SymbolicTensor) -> Kind:
    """What is known of a tf.Tensor in a graph."""
    return Kind(dtype_name(tensor), compat.lengths(tensor))


def attribute_of(op: Op, name: str) -> Any:
    """The attribute `name` of a tf.Operation; None when it has none of that name."""
    try:
        return op.get_attr(name)
    except ValueError:
        return None


def is_placeholder(tensor: SymbolicTensor) -> bool:
    """Whether `tensor` is there to be fed."""
    return tensor.op.type in PLACEHOLDERS


def facts_of(order: Iterable[Op], fed_names: Collection[str]) -> Facts[str]:
    """Where facts about the ops of `order` are kept, none of them known yet; the tensors `fed_names` are fed.

    The optimizer may take a fed tensor for the constant that it would be, unless it is a placeholder.
    """
    graph = next((op.graph for op in order), None)
    fed = {name: graph.as_graph_element(name) for name in fed_names if graph is not None and has_tensor(graph, name)}
    constants = {name: None if is_placeholder(tensor) else UNREAD for name, tensor in fed.items()}
    sources = {name: tensor.op.type if tensor.op.type == "Const" else name for name, tensor in fed.items()}
    return Facts(constants, sources, merging=True)
