"""What comes out of a run: its results, what its updates apply to variables, and the variables after that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from weakref import WeakKeyDictionary

from tfdbg_cli.analysis.lineage import VARIABLE_OPS, tensor_name_of
from tfdbg_cli.analysis.needed import needed_nodes
from tfdbg_cli.analysis.roles import Role, role_by_name
from tfdbg_cli.analysis.training_filters import UPDATED_VARIABLE
from tfdbg_cli.model.graph import Graph, GraphKind, Node, once_per_graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Call, RunKind

# By op type, of updates that cannot hide what is not finite in one of their inputs: (that input, the variable in
# which it shows). Of optimizers it is a moment or an accumulator: m += (grad - m)·(1 - beta) and the like.
SHOWS: Mapping[str, tuple[int, int]] = {
    "AssignAddVariableOp": (1, 0), "AssignSubVariableOp": (1, 0), "AssignAdd": (1, 0), "AssignSub": (1, 0),
    "ResourceApplyGradientDescent": (2, 0), "ApplyGradientDescent": (2, 0),
    "ResourceApplyMomentum": (3, 1), "ApplyMomentum": (3, 1), "ResourceApplyKerasMomentum": (3, 1),
    "ResourceApplyAdam": (9, 1), "ApplyAdam": (9, 1),
    "ResourceApplyRMSProp": (7, 1), "ApplyRMSProp": (7, 1),
}  # fmt: skip
_HANDLE = re.compile(r"^Resource|VariableOp$")
_found: WeakKeyDictionary[Graph, dict[tuple[object, ...], frozenset[TensorName]]] = WeakKeyDictionary()


def outcome_of(graph: Graph, call: Call) -> frozenset[TensorName]:
    """The tensors that come out of runs with that graph and that call. Found once."""
    known = _found.setdefault(graph, {})
    key = (*call.same, tuple(call.feeds))
    if key not in known:
        known[key] = _outcome(graph, call)
    return known[key]


def _outcome(graph: Graph, call: Call) -> frozenset[TensorName]:
    found = set(map(tensor_name_of, call.fetches))
    # Of a program's graph a session runs what its fetches need, and leaves other updates alone.
    partly = graph.kind is GraphKind.PYTHON and call.kind in (RunKind.SESSION, RunKind.CALLABLE)
    needed = needed_nodes(graph, call) if partly else None
    for name in _updates(graph):
        node = graph.node(name)
        if node.op_type == UPDATED_VARIABLE:
            found.add(TensorName(name, 0))
            found.update(node.inputs[1:])  # the first one is the variable itself
        elif needed is None or name in needed:
            found.update(given for given in node.inputs if not _is_variable(graph, given))
            if not _HANDLE.search(node.op_type):
                found.add(TensorName(name, 0))  # a variable by reference, as it is now
    return frozenset(found)


@once_per_graph
def _updates(graph: Graph) -> tuple[str, ...]:
    """The nodes that write a variable, or show it afterwards."""
    return tuple(dict.fromkeys(node.name for node in graph if role_by_name("", node.op_type) is Role.UPDATE))


def _is_variable(graph: Graph, name: TensorName) -> bool:
    node: Node | None = graph.find(name.node)
    return node is not None and node.op_type in VARIABLE_OPS
