"""What a variable was at some moment of a call is told by the call's own order, and by no more than that."""

from __future__ import annotations

from support.made_run import INF, op
from support.variable_runs import added, called, in_a_loop, read, read_after_its_update, shown

from tfdbg_cli.analysis.graph.flow.variable_states import VariableState
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.model.runs import Run


def written(run: Run, name: str, execution: int = 0) -> VariableState | None:
    return Lineage(run).written(run.tensors.named(name)[execution])


def test_behind_an_update_a_read_gives_what_the_end_of_the_region_shows() -> None:
    run = read_after_its_update()
    assert written(run, "read") == VariableState(run.tensors.named("w/after_update")[0])
    assert written(run, "w/after_update") == VariableState(None, ("add",))


def test_before_any_update_nothing_was_written() -> None:
    run = called(read("read", [1.0, 3e38]), added(control=("read",)), shown([1.0, INF]))
    assert written(run, "read") is None
    assert written(run, "w/after_update") == VariableState(run.tensors.named("read")[0], ("add",))


def test_between_two_updates_the_first_one_alone_was_made() -> None:
    run = called(
        added(),
        read("read", [1.0, INF], control=("add",)),
        op("one", "Const", value=[1.0, 1.0]),
        op("assign", "AssignVariableOp", "w", "one", control=("read",)),
        shown([1.0, 1.0], by=("x", "one")),
    )
    assert written(run, "read") == VariableState(None, ("add",))
    assert written(run, "w/after_update") == VariableState(run.tensors.named("read")[0], ("assign",))


def test_updates_are_told_in_their_order() -> None:
    run = called(added("second", control=("first",)), added("first"), shown([1.0, INF]))
    assert written(run, "w/after_update") == VariableState(None, ("first", "second"))


def test_in_a_loop_the_turn_before_tells() -> None:
    run = in_a_loop([1.0, 3.2e38], [1.0, 3.4e38], [1.0, INF])
    ends = run.tensors.named("while/body/w/after_update")
    assert [written(run, "while/body/w/after_update", turn) for turn in range(3)] == [
        VariableState(None, ("while/body/add",)),
        VariableState(ends[0], ("while/body/add",)),
        VariableState(ends[1], ("while/body/add",)),
    ]
    assert [written(run, "while/body/read", turn) for turn in range(3)] == list(map(VariableState, ends))
    assert written(run, "last") == VariableState(ends[2])


def test_a_read_at_the_top_of_a_turn_gives_what_the_turn_before_left() -> None:
    """Its loop variable, which the turn before made behind its update, does not make that one of this turn."""
    run = called(
        op("while", "While", "while/body/next", "w"),
        op("while/body/turn", "LoopVariable", "x", "while/body/next"),
        op("while/body/next", "Identity", "while/body/turn", control=("while/body/add",)),
        op("while/body/before", "Identity", "while/body/turn"),
        read("while/body/read", [1.0, 3e38], [1.0, 3.2e38], control=("while/body/before",)),
        op("while/body/add", "AssignAddVariableOp", "w", "x", control=("while/body/read",)),
        shown([1.0, 3.2e38], [1.0, INF], region="while/body/"),
        order=("x", *("while/body/read", "while/body/w/after_update") * 2),
    )
    ends = run.tensors.named("while/body/w/after_update")
    assert [written(run, "while/body/read", turn) for turn in range(2)] == [None, VariableState(ends[0])]
    assert written(run, "while/body/w/after_update", 1) == VariableState(
        run.tensors.named("while/body/read")[1], ("while/body/add",)
    )


def test_a_branch_that_was_not_taken_has_written_nothing() -> None:
    run = called(
        op("cond", "If", "x", "w"),
        op("cond/true/add", "AssignAddVariableOp", "w", "x"),
        op("cond/false/add", "AssignAddVariableOp", "w", "x"),
        op("cond/true/w/after_update", "UpdatedVariable", "w", "x"),
        op("cond/false/w/after_update", "UpdatedVariable", "w", "x", value=[1.0, INF]),
        read("read", [1.0, INF], control=("cond",)),
    )
    assert written(run, "read") == VariableState(run.tensors.named("cond/false/w/after_update")[0])
    assert written(run, "cond/false/w/after_update") == VariableState(None, ("cond/false/add",))


def test_a_call_that_gives_nothing_back_has_written() -> None:
    run = called(
        op("call", "PartitionedCall", "w", f="g"),
        op("g/add", "AssignAddVariableOp", "w", "x"),
        read("read", [1.0, INF], control=("call",)),
        shown([1.0, INF]),
    )
    assert written(run, "read") == VariableState(run.tensors.named("w/after_update")[0])


def test_where_values_say_something_else_nothing_is_told() -> None:
    run = called(
        op("cond", "If", "x", "w"),
        op("cond/true/add", "AssignAddVariableOp", "w", "x"),
        shown([1.0, 3.1e38], region="cond/true/"),
        read("read", [1.0, INF], control=("cond",)),
    )
    assert written(run, "read") is None


def test_a_gather_reads_what_was_written_before_it() -> None:
    run = called(
        added(),
        op("rows", "Const", value=[1]),
        op("gather", "ResourceGather", "w", "rows", value=[INF], control=("add",)),
        shown([1.0, INF]),
    )
    (table, _) = Lineage(run).inputs(run.tensors.named("gather")[0])
    assert table.index == run.tensors.named("w/after_update")[0]


def test_a_gather_between_two_updates_is_said_not_to_be_known() -> None:
    run = called(
        added(),
        op("rows", "Const", value=[1]),
        op("gather", "ResourceGather", "w", "rows", value=[INF], control=("add",)),
        added("again", control=("gather",)),
        shown([1.0, INF]),
    )
    (table, _) = Lineage(run).inputs(run.tensors.named("gather")[0])
    assert table.value is None
    assert table.note == "written in this run, and not shown between that and here"
