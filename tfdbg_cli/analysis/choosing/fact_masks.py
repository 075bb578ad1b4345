"""Tests on facts of all tensors of a run at once, as boolean arrays, for stores that give facts by the column."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cache
from itertools import repeat
from operator import contains, truth
from typing import Any

import numpy as np

from tfdbg_cli.analysis.graph.nodes.roles import Role, role_by_name, roles_of
from tfdbg_cli.analysis.graph.nodes.tensor_roles import NOT_COMPUTED, computes_fractions
from tfdbg_cli.model.dtypes import may_have_fractions
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.tensors import TellsColumns, TensorStore
from tfdbg_cli.model.values import Array

_SHARE = 8  # if the graph has less than 1/8 as many nodes as the run, look up its nodes in the run, not vice versa
_IN_GRADIENTS = "gradient"  # part of every name by which a node alone counts as a gradient
_NOT_THERE = -1  # instead of the number of a role: the graph has no such node


def holding(store: TensorStore, fact: str, test: Callable[[Any], object]) -> Array | None:
    """A mask of the tensors for whose `fact` `test` is true; None if the store gives no such column.

    `test` may return any object with a truth value, as a wrapper that converts it would be slow for a million calls.
    """
    column = store.column(fact) if isinstance(store, TellsColumns) else None
    if column is None:
        return None
    verdicts = np.fromiter(map(truth, map(test, column.values)), bool, len(column.values))
    return np.asarray(verdicts[column.which])


def holding_op(store: TensorStore, graph: Graph, test: Callable[[str], object]) -> Array | None:
    """A mask of the tensors for whose op type `test` is true: by `graph`, or by the tensor if that lacks the node."""
    holds, nodes = holding(store, "op_type", test), store.nodes()
    if holds is None:
        return None
    test = cache(test)
    if len(graph.names()) * _SHARE < len(nodes):
        for name in graph.names():
            node = graph.find(name)
            found = store.named(name)
            if node is not None and len(found):
                holds[np.asarray(found)] = truth(test(node.op_type))
        return holds
    column = store.column("node") if isinstance(store, TellsColumns) else None
    if column is None:
        return None
    in_graph = [graph.find(name) for name in column.values]
    known = np.fromiter((node is not None for node in in_graph), bool, len(in_graph))
    verdicts = np.fromiter((node is not None and truth(test(node.op_type)) for node in in_graph), bool, len(in_graph))
    return np.where(known[column.which], verdicts[column.which], holds)


def holding_role(store: TensorStore, graph: Graph, test: Callable[[Role | None], object]) -> Array | None:
    """A mask of the tensors for whose role, as given by `tensor_role`, `test` is true; None as for `holding`."""
    nodes = store.column("node") if isinstance(store, TellsColumns) else None
    op_types = store.column("op_type") if isinstance(store, TellsColumns) else None
    if nodes is None or op_types is None:
        return None
    roles, numbers = roles_of(graph), {role: number for number, role in enumerate(Role)}
    forward = numbers[Role.FORWARD]
    names, known = list(nodes.values), {name: numbers[roles.get(name, Role.FORWARD)] for name in graph.names()}
    in_graph = np.fromiter(map(known.get, names, repeat(_NOT_THERE)), np.int8, len(names))[nodes.which]
    told = np.full(len(names), forward, np.int8)
    for place in np.flatnonzero(np.fromiter(map(contains, names, repeat(_IN_GRADIENTS)), bool, len(names))).tolist():
        told[place] = numbers[role_by_name(names[place], "")]
    by_name = told[nodes.which]
    by_op = np.array([numbers[role_by_name("", op_type)] for op_type in op_types.values], np.int8)[op_types.which]
    alone = np.where(by_op == forward, by_name, by_op)
    found = np.where(in_graph == _NOT_THERE, alone, in_graph)
    verdicts = np.array([truth(test(role)) for role in numbers])
    holds = verdicts[found]
    without = truth(test(None))
    if verdicts[numbers[Role.GRADIENT]] == without:  # then telling gradients from tensors without a role is needless
        return np.asarray(holds)
    dtypes = store.column("dtype") if isinstance(store, TellsColumns) else None
    if dtypes is None:
        return None
    gradient = found == numbers[Role.GRADIENT]
    fractions = np.array([may_have_fractions(dtype) for dtype in dtypes.values], bool)[dtypes.which]
    by_type = np.array([op_type not in NOT_COMPUTED for op_type in op_types.values], bool)[op_types.which]
    serving = _serving_gradients(graph)
    by_node = ~np.fromiter(map(serving.__contains__, names), bool, len(names))[nodes.which]
    computed = np.where(in_graph == _NOT_THERE, by_type, by_node)
    return np.where(gradient & ~(fractions & computed), without, holds)


def _serving_gradients(graph: Graph) -> set[str]:
    """Nodes of the backward pass of which nothing is a gradient."""
    backward = (graph.find(name) for name, role in roles_of(graph).items() if role is Role.GRADIENT)
    return {node.name for node in backward if node is not None and not computes_fractions(graph, node)}


def places(mask: Array) -> Sequence[int]:
    """Where `mask` is true."""
    found = array("q")
    found.frombytes(np.flatnonzero(mask).astype(np.int64).tobytes())
    return found


def picked(order: Sequence[int], wanted: Sequence[int]) -> Sequence[int]:
    """The `wanted` places in the order in which they are in `order`, a permutation of all places."""
    mask = np.zeros(len(order), bool)
    mask[np.asarray(wanted, np.int64)] = True
    ordered = np.asarray(order, np.int64)
    found = array("q")
    found.frombytes(ordered[mask[ordered]].tobytes())
    return found
