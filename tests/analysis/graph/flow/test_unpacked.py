"""What is taken out of an Optional is what was put into it; one of a pipeline is data."""

from __future__ import annotations

import pytest
from support.made_run import Op, made_graph, made_run, op

from tfdbg_cli.analysis.graph.flow.deliveries import delivers
from tfdbg_cli.analysis.graph.flow.unpacked import unpacked
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.tensors import gone

HANDLE = gone("This is a handle.")
GIVEN = ("cond/true/Exp", "cond/true/packed", "cond/false/zero", "cond/false/none")
BRANCHES = {"Tout": "[float32, variant]"}


def _packed(graph: Graph, node: str = "get") -> list[tuple[str, bool]]:
    return [(str(one.edge.tensor), one.stacked) for one in unpacked(graph, graph.node(node))]


def _cond(*further: Op) -> Graph:
    return made_graph(
        op("yes", "Placeholder"),
        op("cond/true/Exp", "Exp", "x"),
        op("cond/true/packed", "OptionalFromValue", "cond/true/Exp"),
        op("cond/false/zero", "Const"),
        op("cond/false/none", "OptionalNone"),
        op("cond", "If", "yes", *GIVEN, **BRANCHES),
        *further,
    )


def test_what_a_branch_hands_over() -> None:
    graph = _cond(op("get", "OptionalGetValue", "cond:1"))
    assert _packed(graph) == [("cond/true/Exp:0", False)]
    assert not delivers(graph, graph.node("get"))


def test_a_branch_is_handed_what_the_branch_of_its_name_computed() -> None:
    def branch(name: str) -> list[Op]:
        value, packed = f"case/{name}/Exp", f"case/{name}/packed"
        return [op(value, "Exp", "x"), op(packed, "OptionalFromValue", value)]

    names = ("branch0", "branch1")
    results = [one.name for name in names for one in branch(name)]
    getters = [op(f"grad/{name}/get", "OptionalGetValue", "case:1") for name in names]
    graph = made_graph(
        *(one for name in names for one in branch(name)),
        op("case", "Case", "which", *results, **BRANCHES),
        *getters,
        op("grad", "Case", "which", *(one.name for one in getters), Tout="[float32]"),
        op("get", "OptionalGetValue", "case:1"),
    )
    for name in names:
        assert _packed(graph, f"grad/{name}/get") == [(f"case/{name}/Exp:0", False)]
    assert len(_packed(graph)) == 2


def test_an_optional_within_another() -> None:
    graph = _cond(
        op("outer", "OptionalFromValue", "cond:1"),
        op("inner", "OptionalGetValue", "outer"),
        op("get", "OptionalGetValue", "inner"),
    )
    assert _packed(graph) == [("cond/true/Exp:0", False)]
    assert _packed(graph, "inner") == [("cond:1", False)]


def test_the_component_that_is_asked_for() -> None:
    graph = made_graph(
        op("packed", "OptionalFromValue", "a", "b"),
        op("outer", "OptionalFromValue", "c", "packed"),
        op("inner", "OptionalGetValue", "outer"),
        op("get", "OptionalGetValue", "inner:1"),
    )
    assert _packed(graph) == [("a:0", False)]


def test_what_a_turn_of_a_loop_put_onto_a_stack() -> None:
    run = made_run(
        op("list", "EmptyTensorList", value=HANDLE),
        op("item", "Exp", "x", values=[1.0, 2.0, 3.0]),
        op("packed", "OptionalFromValue", "item"),
        op("push", "TensorListPushBack", "list", "packed"),
        op("pop", "TensorListPopBack", "push"),
        op("get", "OptionalGetValue", "pop:1", values=[3.0, 2.0, 1.0]),
    )
    assert _packed(run.graph) == [("item:0", True)]
    lineage = Lineage(run)
    assert [lineage.places(row)[0].index for row in run.tensors.named("get")] == [3, 2, 1]


def test_of_two_that_may_be_there_the_equal_one() -> None:
    run = made_run(
        op("a", "Exp", "x", value=1.0),
        op("b", "Exp", "x", value=2.0),
        op("pa", "OptionalFromValue", "a"),
        op("pb", "OptionalFromValue", "b"),
        op("merge", "Merge", "pa", "pb"),
        op("get", "OptionalGetValue", "merge", value=1.0),
        op("got", "OptionalGetValue", "merge", value=2.0),
    )
    lineage = Lineage(run)
    assert [lineage.places(run.tensors.named(one)[0])[0].index for one in ("get", "got")] == [0, 1]


@pytest.mark.parametrize("giver", ["IteratorGetNextAsOptional", "Placeholder", "StatefulPartitionedCall"])
def test_what_a_pipeline_or_another_call_gave_is_a_delivery(giver) -> None:
    graph = made_graph(op("given", giver), op("get", "OptionalGetValue", "given"))
    assert not _packed(graph) and delivers(graph, graph.node("get"))


def test_a_circle_ends() -> None:
    graph = made_graph(op("get", "OptionalGetValue", "get"))
    assert not _packed(graph)
