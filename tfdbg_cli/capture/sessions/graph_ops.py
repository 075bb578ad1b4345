"""Ops of a tf.Graph as `ops/op_view.py` has them, and what is known of a call's tensors before it runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.op_definitions import calls_functions, is_stateful, only_computes
from tfdbg_cli.capture.tf.opaque import dtype_name
from tfdbg_cli.capture.tf.static_values import array_in
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor, TfGraph
from tfdbg_cli.ops.facts import Facts
from tfdbg_cli.ops.folding import UNREAD
from tfdbg_cli.ops.kinds import PLACEHOLDERS
from tfdbg_cli.ops.op_view import TensorKind

_NAME, _DTYPE = attrgetter("name"), attrgetter("dtype.as_datatype_enum")


class GraphOp:
    """A tf.Operation (`OpView`) as it is when it is looked at; its tensors go by their names.

    Each property of an Operation or a Tensor is a call of TensorFlow's native code, so here they are asked once:
    `read` and `given` are the tensors themselves, `dtypes` the numbers of the dtypes of `given`. `kinds` are those of
    tensors whose readers and makers were asked before, by name; it is shared by the ops that are looked at together.
    """

    __slots__ = ("_kinds", "dtypes", "given", "inputs", "name", "op", "op_type", "outputs", "read")

    def __init__(self, op: Op, kinds: dict[str, TensorKind] | None = None) -> None:
        self.op = op
        self.name: str = op.name
        self.op_type: str = op.type
        self.read: Sequence[SymbolicTensor] = op.inputs
        self.given: Sequence[SymbolicTensor] = op.outputs
        self.inputs: Sequence[str] = tuple(map(_NAME, self.read))
        self.outputs: Sequence[str] = tuple(map(_NAME, self.given))
        self.dtypes: Sequence[int] = tuple(map(_DTYPE, self.given))
        self._kinds = {} if kinds is None else kinds

    @property
    def inputs_are(self) -> Sequence[TensorKind]:
        return list(map(self._kind, self.inputs, self.read))

    @property
    def outputs_are(self) -> Sequence[TensorKind]:
        return list(map(self._kind, self.outputs, self.given))

    def _kind(self, name: str, tensor: SymbolicTensor) -> TensorKind:
        known = self._kinds.get(name)
        if known is None:
            known = self._kinds[name] = kind_of(tensor)
        return known

    @property
    def is_stateful(self) -> bool:
        return not only_computes(self.op_type) and is_stateful(self.op)

    @property
    def calls_functions(self) -> bool:
        return not only_computes(self.op_type) and calls_functions(self.op)

    @property
    def array(self) -> Any:
        return array_in(self.op.get_attr("value")) if self.op_type == "Const" else None

    def attribute(self, name: str) -> Any:
        return attribute_of(self.op, name)


def kind_of(tensor: SymbolicTensor) -> TensorKind:
    """What is known of a tf.Tensor in a graph."""
    return TensorKind(dtype_name(tensor), compat.lengths(tensor))


def attribute_of(op: Op, name: str) -> Any:
    """The attribute `name` of a tf.Operation; None when it has none of that name."""
    try:
        return op.get_attr(name)
    except ValueError:
        return None


def is_placeholder(tensor: SymbolicTensor) -> bool:
    """Whether `tensor` is there to be fed."""
    return tensor.op.type in PLACEHOLDERS


def has_tensor(graph: TfGraph, name: str) -> bool:
    """Whether `graph` has a tensor called `name`."""
    try:
        graph.as_graph_element(name, allow_tensor=True, allow_operation=False)
    except (KeyError, ValueError, TypeError):
        return False
    return True


def facts_of(ops: Sequence[GraphOp], fed_names: Collection[str]) -> Facts[str]:
    """Where facts about `ops` are kept, none of them known yet; the tensors `fed_names` are fed.

    The optimizer may take a fed tensor for the constant that it would be, unless it is a placeholder.
    """
    graph = ops[0].op.graph if ops else None
    fed = {name: graph.as_graph_element(name) for name in fed_names if graph is not None and has_tensor(graph, name)}
    constants = {name: None if is_placeholder(tensor) else UNREAD for name, tensor in fed.items()}
    sources = {name: tensor.op.type if tensor.op.type == "Const" else name for name, tensor in fed.items()}
    return Facts(constants, sources, merging=True)
