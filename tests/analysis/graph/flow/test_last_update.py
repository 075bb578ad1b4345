"""The op that stands for a variable after its update."""

from __future__ import annotations

from dataclasses import replace

from support.made_run import made_graph, made_run, op

from tfdbg_cli.analysis.graph.flow.last_update import line_of, made_by
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.updates import UPDATED_VARIABLE

READ = op("read", "ReadVariableOp", "v")
UPDATES = (op("less", "AssignSubVariableOp", "v", "step"), op("more", "AssignAddVariableOp", "v", "step"))


def test_the_last_op_that_was_seen_to_write_it() -> None:
    shown = op("v/after_update", UPDATED_VARIABLE, "v", control=("more", "less"))
    assert made_by(made_graph(op("v", "VarHandleOp"), *UPDATES, shown), "v/after_update") == "less"


def test_the_last_op_of_the_graph_that_writes_it() -> None:
    shown, taken = op("v/after_update", UPDATED_VARIABLE, "v", "step"), op("other", "AssignVariableOp", "w", "v")
    graph = made_graph(op("v", "VarHandleOp"), READ, *UPDATES, taken, shown)
    assert made_by(graph, "v/after_update") == "more"
    assert made_by(graph, "read") == "read"
    assert made_by(graph, "nowhere") == "nowhere"


def test_of_a_branch_the_last_op_in_it() -> None:
    ops = (op(f"cond/{side}/add", "AssignAddVariableOp", "v", "step") for side in ("true", "false"))
    shown = op("cond/true/v/after_update", UPDATED_VARIABLE, "v", "step")
    assert made_by(made_graph(op("v", "Placeholder"), *ops, shown), "cond/true/v/after_update") == "cond/true/add"


def test_without_a_writer_it_is_the_node_itself() -> None:
    shown = op("v/after_update", UPDATED_VARIABLE, "v")
    assert made_by(made_graph(op("v", "VarHandleOp"), READ, shown), "v/after_update") == "v/after_update"


def test_the_line_is_that_of_the_update_and_not_of_the_first_op_that_read_the_variable() -> None:
    run = made_run(op("v", "VarHandleOp"), READ, *UPDATES, op("v/after_update", UPDATED_VARIABLE, "v", value=1.0))
    read, update = Frame("train.py", 3, "step", ""), Frame("train.py", 9, "step", "")
    run = replace(run, tracebacks={"v": (read,), "more": (update,)})
    assert line_of(run, "v/after_update") == update
    assert line_of(run, "v") == read
