"""TensorFlow's private parts of a tf.Graph: hidden ops, its functions, and what a session is told to run of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import tensorflow as tf
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework import c_api_util

from tfdbg_cli.capture.tf.types import Op, SymbolicTensor, TfGraph


def replace_input(op: Op, slot: int, tensor: SymbolicTensor) -> None:
    """Have `op` read `tensor` as its input `slot`, in the graph that they are in."""
    op._update_input(slot, tensor)


def add_hidden_ops(
    graph: TfGraph, definition: Any, inputs: Mapping[str, SymbolicTensor], controls: Mapping[str, Op]
) -> dict[str, Op]:
    """Add the nodes of a GraphDef to a tf.Graph under their own names, be it finalized or not; the ops by name.

    `inputs` says which tensors the nodes mean by names that are not in `definition`, `controls` the same of the ops
    that they wait for. The program's next names, seeds and collections stay what they would have been.
    """
    options = pywrap_tf_session.TF_NewImportGraphDefOptions()
    pywrap_tf_session.TF_ImportGraphDefOptionsSetUniquifyNames(options, False)
    # A node may be colocated with one that is in the graph already.
    pywrap_tf_session.TF_ImportGraphDefOptionsSetValidateColocationConstraints(options, False)
    for name, tensor in inputs.items():
        pywrap_tf_session.TF_ImportGraphDefOptionsAddInputMapping(options, name, 0, tensor._as_tf_output())
    for name, op in controls.items():
        pywrap_tf_session.TF_ImportGraphDefOptionsRemapControlDependency(options, name, op._c_op)
    for node in definition.node:
        pywrap_tf_session.TF_ImportGraphDefOptionsAddReturnOperation(options, node.name)
    # As Graph._create_op_internal does, so that no session runs meanwhile; TensorFlow counts its ops under _lock.
    with graph._mutation_lock(), graph._lock, c_api_util.tf_buffer(definition.SerializeToString()) as buffer:
        with graph._c_graph.get() as c_graph:
            results = pywrap_tf_session.TF_GraphImportGraphDefWithResults(c_graph, buffer, options)
        made = pywrap_tf_session.TF_ImportGraphDefResultsReturnOperations(results)
        return {op.name: op for op in (tf.Operation._from_c_op(one, graph) for one in made)}


def run_elements(graph: TfGraph, outputs: Any, c_ops: Any) -> tuple[list[SymbolicTensor], list[Op]]:
    """The tensors and the ops that the method `RUN` of a session is told to fetch and to run."""

    def op_of(c_op: Any) -> Op:
        return graph.get_operation_by_name(pywrap_tf_session.TF_OperationName(c_op))

    return [op_of(one.oper).outputs[one.index] for one in outputs], list(map(op_of, c_ops))


def as_run_elements(tensors: Sequence[SymbolicTensor], ops: Sequence[Op]) -> tuple[list[Any], list[Any]]:
    """What tells the method `RUN` of a session to fetch `tensors` and to run `ops`."""
    return [tensor._as_tf_output() for tensor in tensors], [op._c_op for op in ops]


def hide_ops(graph: TfGraph, is_hidden: Callable[[str], bool]) -> None:
    """Make `graph` list and export only ops and functions whose names are not hidden, by attributes of its own."""
    listed, exported = graph.get_operations, graph._as_graph_def

    def get_operations() -> list[Op]:
        return [op for op in listed() if not is_hidden(op.name)]

    def _as_graph_def(*arguments: Any, **keywords: Any) -> Any:
        definition, version = exported(*arguments, **keywords)
        at = len(definition.node)
        runs = [(hidden, len(list(run))) for hidden, run in groupby(is_hidden(one.name) for one in definition.node)]
        for hidden, length in reversed(runs):
            at -= length
            if hidden:
                del definition.node[at : at + length]
        functions = definition.library.function
        for at in reversed([at for at, one in enumerate(functions) if is_hidden(one.signature.name)]):
            del functions[at]
        if not functions and not definition.library.gradient:
            definition.ClearField("library")
        return definition, version

    graph.get_operations = get_operations
    graph._as_graph_def = _as_graph_def
    graph._functions = _Functions(graph._functions)
    graph._functions.is_hidden = is_hidden


class _Functions(OrderedDict[str, Any]):
    """The functions of a graph by name, as far as the program knows them."""

    is_hidden: Callable[[str], bool]

    def __missing__(self, name: str) -> object:
        # Graph._as_graph_def asks for every function of the C graph, and takes one without a `graph` as it is.
        if self.is_hidden(name):
            return None
        raise KeyError(name)


def function_graphs(graph: TfGraph) -> dict[str, TfGraph]:
    """The FuncGraphs of the functions of a tf.Graph, by name, as far as they are kept."""
    # What was imported has no graph yet; it would be made when asked for, and know no line of the program.
    graphs = {name: getattr(function, "_cached_graph", None) for name, function in graph._functions.items()}
    return {name: kept for name, kept in graphs.items() if kept is not None}
