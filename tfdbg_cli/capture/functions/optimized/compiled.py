"""What TensorFlow's runtime makes of a function, found without running it."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

from tfdbg_cli.capture.functions.definition.body import XLA
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.thread_alike import own_ops_apart
from tfdbg_cli.capture.tf.types import EagerTensor, GraphDef, NodeDef
from tfdbg_cli.model.dtypes import FLOAT, RESOURCE

_SERIAL = itertools.count(1)
_COPY = "__tfdbg_copy_"
_LOCK = threading.Lock()
# Inlined functions and lowered loops are numbered as they come: `while/body/_12/mul`.
_NUMBER = re.compile(r"/_\d+(?=/|$)")


@dataclass(frozen=True)
class Compiled:
    """A function as the runtime executes it.

    `nodes` are optimized and placed, those of all devices together; `optimized` is the whole before it was divided.
    """

    nodes: Sequence[NodeDef]
    optimized: Sequence[NodeDef]


def steady_name(name: str) -> str:
    """The name of a node without the numbers of calls that were inlined."""
    return _NUMBER.sub("", name)


def compiled(name: str, inputs: Sequence[EagerTensor], *, optimize: bool = True) -> Compiled | None:
    """What the runtime makes of the function `name` when it is called with `inputs`.

    Nothing is computed. None where the runtime made it before, or does not tell, as of a function that XLA compiles.
    `optimize` says whether the graph optimizer is on, as in `compat.run_function`.
    """
    definition = compat.function_definition(name)
    # A function that XLA compiles as a whole is called as one op, which does not look whether it was cancelled.
    if definition is None or (XLA in definition.attr and definition.attr[XLA].b) or not _cancelled_calls_do_nothing():
        return None
    arguments = [argument.name for argument in definition.signature.input_arg]
    outputs = len(definition.signature.output_arg)
    with _LOCK:
        found = own_ops_apart(lambda: compat.graphs_made_of(name, inputs, outputs, optimize=optimize))
    own = [graphs for graphs in found if graphs.partition_graphs and _is_of(graphs, arguments)]
    # Another thread may compile a function at the same moment.
    if len(own) != 1:
        return None
    nodes = [node for graph in own[0].partition_graphs for node in graph.node]
    return Compiled(nodes, own[0].post_optimization_graph.node)


@cache
def _cancelled_calls_do_nothing() -> bool:
    """Whether this TensorFlow does not start a call that was cancelled before it; tried with a function of ours."""
    name = f"tfdbg_probe_{next(_SERIAL)}"
    definition = compat.v1.GraphDef().library.function.add()
    definition.signature.name = name
    definition.signature.is_stateful = True
    definition.signature.input_arg.add(name="handle", type=RESOURCE)
    definition.signature.input_arg.add(name="value", type=FLOAT)
    node = definition.node_def.add(name="write", op="AssignVariableOp", input=["handle", "value"])
    node.attr["dtype"].type = FLOAT
    definition.control_ret["write"] = "write"
    definition.signature.control_output.append("write")
    compat.add_function(definition)
    try:
        with _LOCK, own_ops():
            handle = compat.new_variable(compat.eager_tensor(1.0))
            given = [handle, compat.eager_tensor(2.0)]
            own_ops_apart(lambda: compat.graphs_made_of(name, given, 0))
            value = compat.read_variable(handle, FLOAT)
            return bool(value.numpy() == 1.0)
    finally:
        compat.remove_function(name)


def compiled_copy(name: str, inputs: Sequence[EagerTensor], *, optimize: bool = True) -> Compiled | None:
    """As `compiled`, also for a function that was called before: a copy of it is compiled then."""
    found = compiled(name, inputs, optimize=optimize)
    definition = compat.function_definition(name) if found is None else None
    if definition is None:
        return found
    copied = deepcopy(definition)
    copied.signature.name = f"{name}{_COPY}{next(_SERIAL)}"
    compat.add_function(copied)
    try:
        return compiled(copied.signature.name, inputs, optimize=optimize)
    finally:
        compat.remove_function(copied.signature.name)


def _is_of(graphs: Any, arguments: Sequence[str]) -> bool:
    """Whether a FunctionGraphs message is of a function with these arguments."""
    if graphs.pre_optimization_graph.node:
        return _arguments(graphs.pre_optimization_graph) == arguments
    # An op of another thread came between: the message before has the graph from before the optimizer.
    return {name for graph in graphs.partition_graphs for name in _arguments(graph)} <= set(arguments)


def _arguments(graph: GraphDef) -> list[str]:
    """The names of the arguments of a function, in order."""
    found = [(node.attr["index"].i, node.name) for node in graph.node if node.op == "_Arg"]
    return [name for _, name in sorted(found)]
