"""What is asked of all tensors of a run at once is what would be found by a look at each."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.choosing.fact_masks import holding, holding_op, holding_role, picked, places
from tfdbg_cli.analysis.graph.nodes.roles import Role
from tfdbg_cli.analysis.graph.nodes.tensor_roles import tensor_role
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.tensors import FactColumn, MemoryTensorStore

COUNT = 40


class _Columns(MemoryTensorStore):
    """A store that tells its facts by the column."""

    def column(self, fact: str) -> FactColumn | None:
        if fact == "name":
            return None
        values = [getattr(self[place], fact) for place in range(len(self))]
        return FactColumn(values, np.arange(len(self)))


def _store(kind: type[MemoryTensorStore] = _Columns) -> MemoryTensorStore:
    run = made_run(*(op(f"op_{i}", ("Add", "Mul")[i % 2], value=np.ones(i % 3)) for i in range(COUNT)))
    rows = [run.tensors[i] for i in range(COUNT)]
    return kind(rows, [run.tensors.value(i) for i in range(COUNT)])


def test_a_test_of_a_fact() -> None:
    store = _store()
    found = holding(store, "shape", lambda shape: shape == (2,))
    assert found is not None and list(places(found)) == list(range(2, COUNT, 3))
    named = holding(store, "node", re.compile("_3").search)
    assert named is not None and list(places(named)) == [3, *range(30, 40)]
    assert holding(store, "name", bool) is None
    assert holding(_store(MemoryTensorStore), "shape", bool) is None


@pytest.mark.parametrize("nodes", [0, 3, COUNT])
def test_an_op_type_is_that_of_the_graph_where_it_has_the_node(nodes: int) -> None:
    """Of a small graph each node is looked for, of a large one each name."""
    graph = Graph([Node(f"op_{i}", "Other", "", ()) for i in range(nodes)])
    store = _store()
    found = holding_op(store, graph, re.compile("^Add").search)
    other = holding_op(store, graph, re.compile("Other").search)
    assert found is not None and list(places(found)) == [i for i in range(0, COUNT, 2) if i >= nodes]
    assert other is not None and list(places(other)) == list(range(nodes))


@pytest.mark.parametrize("in_graph", [True, False])
@pytest.mark.parametrize("wanted", [*Role, None])
def test_a_role_is_that_of_each_tensor(wanted: Role | None, in_graph: bool) -> None:
    scopes = ("", "gradients/", "gradient_tape/", "Adam/update/", "save/")
    types = ("MatMul", "Const", "Shape", "Fill", "ReluGrad", "ResourceApplyAdam", "VarHandleOp")
    values = (np.ones(2, np.float32), np.ones(2, np.int32), np.ones(2, bool))
    run = made_run(
        *(
            op(f"{scope}{op_type}_{place}", op_type, value=value)
            for scope in scopes
            for op_type in types
            for place, value in enumerate(values)
        )
    )
    graph = run.graph if in_graph else Graph([])
    rows = [run.tensors[i] for i in range(len(run.tensors))]
    found = holding_role(
        _Columns(rows, [run.tensors.value(i) for i in range(len(rows))]), graph, lambda role: role is wanted
    )
    assert found is not None
    assert found.tolist() == [tensor_role(graph, tensor) is wanted for tensor in rows]


def test_some_places_in_the_order_of_all() -> None:
    assert list(picked([3, 1, 0, 2], [0, 1, 2])) == [1, 0, 2]
