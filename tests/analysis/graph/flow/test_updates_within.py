"""A read of a variable behind its updates shows what they wrote, and not what an earlier run left."""

from __future__ import annotations

import pytest
from support.made_run import INF, made_graph, made_run, op

from tfdbg_cli.analysis.graph.flow.updates_within import before
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.runs import Run


def run_with(*control: str) -> Run:
    """`grow` adds 2 to `v`; `read` reads it behind the ops `control`."""
    return made_run(
        op("v", "VarHandleOp"),
        op("init", "AssignVariableOp", "v"),
        op("two", "Const", value=[3e38]),
        op("grow", "AssignAddVariableOp", "v", "two"),
        op("read", "ReadVariableOp", "v", value=[INF], control=control),
        op("out", "Neg", "read", value=[-INF]),
        op("v/after_update", "UpdatedVariable", "v", "two", value=[INF], control=("grow",)),
        times=False,
    )


def test_behind_the_update_the_op_that_wrote_is_the_origin() -> None:
    origin = OriginSearch(run_with("grow")).first()
    assert origin is not None
    assert (str(origin.name), origin.made_by) == ("v/after_update:0", "grow")
    assert "earlier run" not in origin.cause.text


@pytest.mark.parametrize("control", [(), ("two",)])
def test_not_behind_it_the_variable_was_bad_before(control) -> None:
    origin = OriginSearch(run_with(*control)).first()
    assert origin is not None
    assert str(origin.name) == "read:0"
    assert "earlier run" in origin.cause.text


def test_writers_are_found_along_all_edges_and_in_circles() -> None:
    graph = made_graph(
        op("w", "AssignVariableOp", "v"), op("a", "NoOp", control=("w",)), op("b", "Merge", "read", control=("a",)),
        op("read", "ReadVariableOp", "v", control=("b",)), op("late", "AssignVariableOp", "read"),
    )  # fmt: skip
    assert before([graph], "read", ["w", "late"]) == {"w"}
    assert before([graph], "missing", ["w"]) == frozenset()


def test_what_a_loop_reads_comes_behind_what_its_call_waits_for() -> None:
    """The run's own update of before the loop was said to be that of an earlier run."""
    graph = made_graph(
        op("v", "VarHandleOp"),
        op("x", "Const"),
        op("assign", "AssignVariableOp", "v", "x"),
        op("later", "AssignVariableOp", "v", "x"),
        op("while", "While", "v", control=("assign",)),
        op("while/body/read", "ReadVariableOp", "v"),
    )
    assert before([graph], "while/body/read", ["assign", "later"]) == {"assign"}
