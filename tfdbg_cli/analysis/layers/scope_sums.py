"""Totals over the tensors of layers and name scopes, computed in steps."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tfdbg_cli.analysis.graph.nodes.roles import Role, role_of
from tfdbg_cli.analysis.graph.nodes.tensor_roles import tensor_role
from tfdbg_cli.analysis.layers.layers import Layers, in_tree_order, scope_text
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.tensors import TensorStore

_AT_ONCE = 200  # nodes between two chances to look at the keyboard


@dataclass(slots=True)
class ScopeSum:
    """The totals over the tensors of one scope and of the scopes inside it."""

    tensors: int = 0
    nbytes: int = 0
    nonfinite: int | None = 0  # None if it is not known of all tensors
    roles: dict[Role, int] = field(default_factory=lambda: dict.fromkeys(Role, 0))
    indices: array[int] = field(default_factory=lambda: array("q"))  # of these tensors


def scope_sums(
    store: TensorStore, graph: Graph, layers: Layers, nonfinite_of: Callable[[int], int | None] | None
) -> Iterator[Mapping[str, ScopeSum] | None]:
    """The totals of every scope that holds a tensor, by name, each after its enclosing scope.

    Yields None in between, then the result. `nonfinite_of(index)` gives the number of NaN and infinities of a tensor;
    if that is None for one tensor, it is None for its scopes. Without `nonfinite_of` they are not counted.
    """
    found: dict[str, ScopeSum] = {}
    for at, node in enumerate(store.nodes()):
        scope = layers.layer(node)
        around = [scope_text(scope[:end]) for end in range(1, len(scope) + 1)]
        for index in store.named(node) if around else ():
            tensor = store[index]
            nonfinite = nonfinite_of(index) if nonfinite_of is not None else 0
            role = tensor_role(graph, tensor)
            for name in around:
                total = found.setdefault(name, ScopeSum())
                total.tensors += 1
                total.indices.append(index)
                total.nbytes += tensor.nbytes or 0
                if total.nonfinite is not None:
                    total.nonfinite = None if nonfinite is None else total.nonfinite + nonfinite
                if role is not None:
                    total.roles[role] += 1
        if at % _AT_ONCE == 0:
            yield None
    yield {name: found[name] for name in in_tree_order(found)}


def node_sums(graph: Graph, layers: Layers) -> Iterator[Mapping[str, ScopeSum] | None]:
    """The same of a graph without values: each of its nodes counts as one tensor, of no size."""
    found: dict[str, ScopeSum] = {}
    for at, node in enumerate(graph):
        scope, role = layers.layer(node.name), role_of(graph, node.name, node.op_type)
        for end in range(1, len(scope) + 1):
            total = found.setdefault(scope_text(scope[:end]), ScopeSum())
            total.tensors += 1
            total.roles[role] += 1
        if at % _AT_ONCE == 0:
            yield None
    yield {name: found[name] for name in in_tree_order(found)}
