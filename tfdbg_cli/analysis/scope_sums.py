"""What the tensors of layers and name scopes come to, counted in steps."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tfdbg_cli.analysis.graph.roles import Role, role_of
from tfdbg_cli.analysis.graph.tensor_roles import tensor_role
from tfdbg_cli.analysis.layers import Layers, in_tree_order, scope_text
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.tensors import TensorStore

_AT_ONCE = 200  # nodes between two chances to look at the keyboard


@dataclass(slots=True)
class ScopeSum:
    """What the tensors of one scope, and of those inside it, come to."""

    tensors: int = 0
    nbytes: int = 0
    nonfinite: int | None = 0  # None where nobody can tell it of all
    roles: dict[Role, int] = field(default_factory=lambda: dict.fromkeys(Role, 0))
    indices: array[int] = field(default_factory=lambda: array("q"))  # of these tensors


def scope_sums(
    store: TensorStore, graph: Graph, layers: Layers, nonfinite_of: Callable[[int], int | None] | None
) -> Iterator[Mapping[str, ScopeSum] | None]:
    """The sums of every scope that holds a tensor, by name, each behind the one around it.

    None while it goes on, then the answer. What is NaN or infinite is counted where `nonfinite_of` tells it, and not
    known of a scope with a tensor of which that gives None.
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
