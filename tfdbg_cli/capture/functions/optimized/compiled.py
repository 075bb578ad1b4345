"""What TensorFlow's runtime makes of a function, found without running it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

from tfdbg_cli.capture.functions.definition.body import XLA
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.graph_collection import GRAPH_COLLECTION
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.thread_alike import own_ops_apart
from tfdbg_cli.capture.tf.types import EagerTensor, GraphDef, NodeDef
from tfdbg_cli.model.dtypes import FLOAT, RESOURCE

_SERIAL = itertools.count(1)
_COPY = "__tfdbg_copy_"
_TRIES = 3  # of copies of a function, while ops of other threads of the program get amid what is told
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
    return _told(_collected(name, inputs, optimize), name)


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
        with GRAPH_COLLECTION.alone(), own_ops():
            handle = compat.new_variable(compat.eager_tensor(1.0))
            given = [handle, compat.eager_tensor(2.0)]
            own_ops_apart(lambda: compat.graphs_made_of(name, given, 0))
            value = compat.read_variable(handle, FLOAT)
            return bool(value.numpy() == 1.0)
    finally:
        compat.remove_function(name)


def compiled_copy(name: str, inputs: Sequence[EagerTensor], *, optimize: bool = True) -> Compiled | None:
    """As `compiled`, also for a function that was called before: a copy of it is compiled then."""
    found = _collected(name, inputs, optimize)
    told = _told(found, name)
    definition = compat.function_definition(name)
    for _ in range(_TRIES):
        if told is not None or definition is None:
            break
        copied = deepcopy(definition)
        copied.signature.name = f"{name}{_COPY}{next(_SERIAL)}"
        compat.add_function(copied)
        try:
            found = _collected(copied.signature.name, inputs, optimize)
            told = _told(found, copied.signature.name)
        finally:
            compat.remove_function(copied.signature.name)
        if not found:
            break
    return told


def _collected(name: str, inputs: Sequence[EagerTensor], optimize: bool) -> Sequence[Any]:
    """The FunctionGraphs messages of what the runtime makes of the function `name`; none where it does not tell."""
    definition = compat.function_definition(name)
    # A function that XLA compiles as a whole is called as one op, which does not look whether it was cancelled.
    if definition is None or (XLA in definition.attr and definition.attr[XLA].b) or not _cancelled_calls_do_nothing():
        return ()
    outputs = len(definition.signature.output_arg)
    with GRAPH_COLLECTION.alone():
        return own_ops_apart(lambda: compat.graphs_made_of(name, inputs, outputs, optimize=optimize))


def _told(found: Sequence[Any], name: str) -> Compiled | None:
    """What messages tell of the function `name`; None where ops of other threads came between and nobody can tell."""
    definition = compat.function_definition(name)
    if definition is None:
        return None
    ends = _Ends(tuple(one.name for one in definition.signature.input_arg), len(definition.signature.output_arg))
    own = [graphs for graphs in found if graphs.partition_graphs and _is_of(graphs, ends)]
    optimized = _optimized(own[0], found, ends) if len(own) == 1 else ()
    if not optimized:
        return None
    return Compiled([node for graph in own[0].partition_graphs for node in graph.node], optimized)


@dataclass(frozen=True)
class _Ends:
    """The names of the arguments of a function, in order, and the number of its results: by these it is known."""

    arguments: tuple[str, ...]
    results: int

    def some_of(self, whole: _Ends) -> bool:
        """Whether these can be those of `whole`: one that nothing reads is gone after the optimizer."""
        return set(self.arguments) <= set(whole.arguments) and self.results == whole.results


def _is_of(graphs: Any, ends: _Ends) -> bool:
    """Whether a FunctionGraphs message is of a function with these ends."""
    if graphs.pre_optimization_graph.node:
        return _ends(graphs.pre_optimization_graph) == ends
    # An op of another thread came between: the message before has the graph from before the optimizer.
    return _ends(*graphs.partition_graphs).some_of(ends)


def _optimized(own: Any, found: Sequence[Any], ends: _Ends) -> Sequence[NodeDef]:
    """The optimized nodes of the function with these ends, whose message is `own`; none where nobody can tell.

    Where an op of another thread came between, they are in the message before, of all `found`.
    """
    told = [own] if own.post_optimization_graph.node else [one for one in found if not one.partition_graphs]
    graphs = [one.post_optimization_graph for one in told]
    of_it = [graph.node for graph in graphs if graph.node and _ends(graph).some_of(ends)]
    return tuple(of_it[0]) if len(of_it) == 1 else ()


def _ends(*graphs: GraphDef) -> _Ends:
    """The ends of the whole that `graphs` are the parts of."""
    nodes = [node for graph in graphs for node in graph.node]
    found = sorted((node.attr["index"].i, node.name) for node in nodes if node.op == "_Arg")
    return _Ends(tuple(name for _, name in found), sum(node.op == "_Retval" for node in nodes))
