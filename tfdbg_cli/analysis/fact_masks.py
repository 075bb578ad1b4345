"""Asking something of every tensor of a run at once, where its store tells facts by the column."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cache
from operator import truth
from typing import Any

import numpy as np

from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.tensors import TellsColumns, TensorStore
from tfdbg_cli.model.values import Array

_SHARE = 8  # of a graph with fewer nodes than this part of the run's, each is looked for in the run


def holding(store: TensorStore, fact: str, test: Callable[[Any], object]) -> Array | None:
    """For each tensor whether `test` holds for its `fact`; None where each would have to be looked at.

    A test answers with anything that has a truth. A million times a function of Python around it would be felt.
    """
    column = store.column(fact) if isinstance(store, TellsColumns) else None
    if column is None:
        return None
    verdicts = np.fromiter(map(truth, map(test, column.values)), bool, len(column.values))
    return np.asarray(verdicts[column.which])


def holding_op(store: TensorStore, graph: Graph, test: Callable[[str], object]) -> Array | None:
    """For each tensor whether `test` holds for its op type: that of `graph`, or of its row where that has no node."""
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


def places(mask: Array) -> Sequence[int]:
    """Where `mask` is true."""
    found = array("q")
    found.frombytes(np.flatnonzero(mask).astype(np.int64).tobytes())
    return found


def picked(order: Sequence[int], wanted: Sequence[int]) -> Sequence[int]:
    """Those of `order`, which are all places, that are `wanted`."""
    mask = np.zeros(len(order), bool)
    mask[np.asarray(wanted, np.int64)] = True
    ordered = np.asarray(order, np.int64)
    found = array("q")
    found.frombytes(ordered[mask[ordered]].tobytes())
    return found
