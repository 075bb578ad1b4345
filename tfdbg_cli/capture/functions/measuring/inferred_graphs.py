"""The shapes of a function's tensors as TensorFlow infers them of its ops, for functions that declare false ones.

`Tensor.set_shape` lets a program declare any shape of a tensor of which TensorFlow knows none, such as what a
`tf.numpy_function` gives, and no kernel looks at it. What is computed from that tensor has its false shape, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.failures import report_once
from tfdbg_cli.capture.tf import colocation, compat
from tfdbg_cli.capture.tf.imported_graph import imported_graph
from tfdbg_cli.capture.tf.types import NodeDef, TfGraph
from tfdbg_cli.model.dtypes import HANDLE_NUMBERS
from tfdbg_cli.process.interruptions import our_errors

_GIVEN = "InfeedDequeueTuple"  # an op without inputs, with any number of outputs of given shapes
_FALSE = frozenset({"ApproxTopK"})  # of which TensorFlow infers another shape than its kernel on a CPU gives
_MOST_ELEMENTS = 64  # of a constant that may be the shape of another tensor


@dataclass(frozen=True)
class _InferredOp:
    """An op of the graph of a function, whose outputs have the shapes that are inferred."""

    name: str
    outputs: Sequence[Any]


@dataclass(frozen=True)
class _InferredGraph:
    """What `StaticFacts` reads of the graph of a function."""

    inputs: Sequence[Any]
    ops: Sequence[_InferredOp]

    def get_operations(self) -> Sequence[_InferredOp]:
        """All ops."""
        return self.ops


def undeclared(graphs: Mapping[str, TfGraph], root: str) -> Mapping[str, TfGraph]:
    """`graphs`, FuncGraphs by name, without the shapes that the program declared; they themselves if there are none.

    The arguments of `root` have the shapes of its signature, which TensorFlow checks at each call.
    """
    try:
        return _Inference(graphs, root).found()
    except our_errors() as error:  # the declared shapes are true in nearly all programs
        report_once("infer the shapes of a function anew", error)
        return graphs


class _Inference:
    """Infers the shapes in `graphs` anew, until it is known which functions are given, or give, declared shapes."""

    def __init__(self, graphs: Mapping[str, TfGraph], root: str) -> None:
        self._graphs = graphs
        self._root = root
        self._taking: set[str] = set()  # functions that may be given something else than they declare
        self._giving: set[str] = set()  # functions that may give something else than they declare

    def found(self) -> Mapping[str, TfGraph]:
        """The graphs with the inferred shapes; those at hand if these are the same."""
        inferred = {name: self._inferred(name) for name in self._graphs}
        if not any([self._look_at(name, inferred[name]) for name in inferred]):
            return self._graphs
        known = -1
        while known != len(self._taking) + len(self._giving):
            known = len(self._taking) + len(self._giving)
            inferred = {name: self._inferred(name) for name in self._graphs}
            for name, graph in inferred.items():
                self._look_at(name, graph)
        return inferred

    def _look_at(self, name: str, inferred: _InferredGraph) -> bool:
        """Note whom the tensors reach that are declared otherwise than `inferred`; returns whether there are such."""
        graph, ops = self._graphs[name], {op.name: op for op in inferred.ops}
        declared = {
            id(told)
            for op in graph.get_operations()
            for told, found in zip(op.outputs, ops[op.name].outputs, strict=True)
            if compat.lengths(told) != compat.lengths(found)
        }
        if any(id(tensor) in declared for tensor in graph.outputs):
            self._giving.add(name)
        for op in graph.get_operations() if declared else ():
            called = _called_by(op.node_def)
            if any(id(tensor) in declared for tensor in (*op.inputs, *op.outputs)):
                self._taking.update(called)
        return bool(declared)

    def _inferred(self, name: str) -> _InferredGraph:
        graph = self._graphs[name]
        definition = graph.as_graph_def()
        ops = {op.name: op for op in graph.get_operations()}
        arguments_known = name == self._root or name not in self._taking
        for node in definition.node:
            # What it stands beside says nothing of shapes, and may be an op of another function.
            colocation.forget(node)
            op, called, argument = ops[node.name], _called_by(node), node.op == "Placeholder"
            handles = any(map(_is_handle, (*op.inputs, *op.outputs)))
            unknown = compat.op_definition(node.op) is None  # a function that is called by its name
            if called or unknown or argument or handles or node.op in _FALSE or _is_large(op):
                known = (
                    node.op not in _FALSE and called.isdisjoint(self._giving) and (arguments_known or not argument)
                )
                _be_given(node, op, known=known)
        definition.ClearField("library")
        made = imported_graph(definition)
        return _InferredGraph(
            [made.get_operation_by_name(tensor.op.name).outputs[0] for tensor in graph.inputs],
            [_InferredOp(op.name, op.outputs) for op in made.get_operations()],
        )


def _called_by(node: NodeDef) -> set[str]:
    """The names of the functions that `node` calls."""
    values = node.attr.values()
    return {one.func.name for one in values if one.HasField("func")} | {
        f.name for one in values for f in one.list.func
    }


def _is_handle(tensor: Any) -> bool:
    return tensor.dtype.as_datatype_enum in HANDLE_NUMBERS


def _is_large(op: Any) -> bool:
    size = op.outputs[0].shape.num_elements() if op.type == "Const" else None
    return size is not None and size > _MOST_ELEMENTS


def _be_given(node: NodeDef, op: Any, *, known: bool) -> None:
    """Make of `node` one that has the outputs of `op` with their shapes, if `known`."""
    if not op.outputs:
        del node.input[:]
        node.attr.clear()
        node.op = "NoOp"
        return
    waits = [text for text in node.input if text.startswith("^")]
    del node.input[:]
    node.input.extend(waits)
    node.attr.clear()
    node.op = _GIVEN
    for tensor in op.outputs:
        node.attr["dtypes"].list.type.append(tensor.dtype.as_datatype_enum)
        shape = tensor.shape if known else tf.TensorShape(None)
        node.attr["shapes"].list.shape.append(shape.as_proto())
