"""Which of its branches a conditional took, by the value that chose it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.flow.call_results import list_length
from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.analysis.graph.nodes.neighbours import Edge, neighbours_of
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Array, NoValue, Value
from tfdbg_cli.ops.kinds import BRANCHES, CONDITIONS, MERGE

_SCOPE = re.compile(r"(true|false|branch\d+)(?:_\d+)?")
_MOST_READ = 1000  # values of the chooser that are read, as a loop may have very many iterations


@dataclass(frozen=True, slots=True)
class Taken:
    """How often a conditional took each of its branches (`times`), as far as the values of `chooser` tell.

    The name of a branch is the last part of its nodes' scope, without the number that makes it unique: `true`. For a
    Merge of version 1, it is the name of the input that came through. `scopes` maps the branches that have nodes to
    their scopes; None for a Merge.
    """

    chooser: TensorName
    times: Mapping[str, int]
    untold: int  # how many values of `chooser` were not looked at, or do not tell it
    scopes: Mapping[str, str] | None

    def left_out(self, tensor: TensorName) -> bool:
        """Whether `tensor` belongs to a branch that was certainly never taken."""
        if self.untold:
            return False
        if self.scopes is None:
            return str(tensor) not in self.times
        return any(tensor.node.startswith(f"{self.scopes[name]}/") for name in self.scopes.keys() - self.times.keys())


def chosen_branch(node: Node, chosen: Value) -> str | None:
    """The branch that `node`, an If or a Case, takes for the value `chosen`: `true`, `false` or `branchN`.

    None if that is not known.
    """
    if isinstance(chosen, NoValue):
        return None
    if node.op_type in CONDITIONS:
        return "true" if _is_true(chosen) else "false"
    count = list_length(node, "branches")  # a Case takes the last branch for any index out of range
    if count is None or chosen.size != 1:
        return None
    number = int(chosen.reshape(()))
    return f"branch{number if 0 <= number < count else count - 1}"


def branch_of_scope(scope: str) -> str | None:
    """Which branch stands in `scope`, by its last part."""
    found = _SCOPE.fullmatch(scope.rpartition("/")[2])
    return found[1] if found else None


def taken_branches(graph: Graph, store: TensorStore, node: Node) -> Taken | None:
    """Which branches `node` took in a run; None if it is no conditional, did not run, or nothing is known of it."""
    edges = neighbours_of(graph).inputs(node) if node.op_type in MERGE | BRANCHES else []
    if not edges or _lies_in_what_was_left_out(graph, store, node):
        return None
    merged = node.op_type in MERGE
    chooser = TensorName(node.name, 1) if merged else edges[0].tensor
    rows = store.named(chooser.node, chooser.slot)
    values = [store.value(row) for row in rows[:_MOST_READ]]
    told = [_merged(edges, value) if merged else chosen_branch(node, value) for value in values]
    times = Counter(branch for branch in told if branch is not None)
    return Taken(chooser, times, len(rows) - times.total(), None if merged else _scopes(node)) if times else None


def _merged(edges: Sequence[Edge], index: Value) -> str | None:
    """The name of the input that a Merge passed on, by `index`, the value of its second output."""
    if isinstance(index, NoValue) or index.size != 1 or index.dtype.kind not in "iu":
        return None
    if not 0 <= int(index.reshape(())) < len(edges):
        return None
    return str(edges[int(index.reshape(()))].tensor)


def _lies_in_what_was_left_out(graph: Graph, store: TensorStore, node: Node) -> bool:
    """Whether `node` did not run, being in a branch never taken; its chooser may have a value from outside anyway."""
    scopes = call_scopes(graph)
    for scope in scopes.around(node.name):
        around = graph.find(scopes.caller(scope))
        if around is not None and around.op_type in BRANCHES:
            taken = taken_branches(graph, store, around)
            return taken is None or taken.left_out(TensorName(node.name, 0))
    return False


def was_left_out(graph: Graph, store: TensorStore, node: Node) -> bool:
    """Whether `node` certainly did not run, since it is in a branch that was never taken."""
    scopes = call_scopes(graph)
    for scope in scopes.around(node.name):
        around = graph.find(scopes.caller(scope))
        taken = None if around is None else taken_branches(graph, store, around)
        branch = branch_of_scope(scope)
        if taken is not None and branch is not None and not taken.untold and branch not in taken.times:
            return True
    return False


def _scopes(node: Node) -> dict[str, str]:
    """The scopes of the branches of `node`, by what the branches are called."""
    inside = (tensor.node for tensor in node.inputs if tensor.node.startswith(f"{node.name}/"))
    found = (f"{node.name}/{name.removeprefix(f'{node.name}/').partition('/')[0]}" for name in inside)
    return {branch: scope for scope in found if (branch := branch_of_scope(scope)) is not None}


def _is_true(value: Array) -> bool:
    """What counts as true for an If: a number that is not 0, a text that is not empty, any array with elements."""
    return bool(value.reshape(-1)[0]) if value.ndim == 0 else value.size > 0
