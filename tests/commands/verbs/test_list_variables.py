"""`list_variables`: the variables of runs, checkpoints and graph files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.checkpoint_maker import checkpoint
from support.golden import check_golden
from support.looks import written
from support.made_run import NAN, made_run, op
from support.prompt import Prompt
from support.screen import Driven

from tfdbg_cli.analysis.variables.listing import Variable
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import RunError, RunKind
from tfdbg_cli.model.runs import Opened, Run, RunEnd, RunStart
from tfdbg_cli.model.variables import ToldVariables

_REGISTRY = standard_registry()


def _variable(name: str, shape: str = "[2,2]", dtype: str = "float32") -> object:
    return op(name, "VarHandleOp", device="", dtype=dtype, shape=shape)


def _step() -> Run:
    """A training step: it reads a kernel and trains it with momentum; a second kernel is there and is not used."""
    kernel = np.array([[1, 2], [3, NAN]], np.float32)
    run = made_run(
        _variable("dense/kernel"),
        _variable("dense/kernel/Momentum"),
        _variable("dense/kernel_1"),
        _variable("steps", "[]", "int64"),
        _variable("table", "[1000,?]"),
        op("dense/kernel/Read/ReadVariableOp", "ReadVariableOp", "dense/kernel_1"),
        op("dense/MatMul/ReadVariableOp", "ReadVariableOp", "dense/kernel", value=np.ones((2, 2), np.float32)),
        op("dense/rows", "ResourceGather", "table"),
        op("dense/MatMul", "MatMul", "dense/MatMul/ReadVariableOp", "dense/rows", value=np.ones((2, 2), np.float32)),
        op("update", "ResourceApplyMomentum", "dense/kernel", "dense/kernel/Momentum", "dense/MatMul"),
        op("count", "AssignAddVariableOp", "steps"),
        op("dense/kernel/after_update", "UpdatedVariable", "dense/kernel", control=("update",), value=kernel),
        op("train", "NoOp", control=("update", "count")),
        times=False,
    )  # fmt: skip
    trainable = ToldVariables({"dense/kernel": True, "steps": False, "dense/kernel_1": True})
    return replace(run, call=replace(run.call, fetches=(), targets=("train",)), variables=trainable)


def test_the_screen() -> None:
    prompt = Prompt(_step(), width=80)
    check_golden(
        "commands/lv", "\n\n".join(prompt.show(text) for text in ("lv", "lv kernel --stats", "lv -s size -r"))
    )


def test_what_is_known_of_each() -> None:
    data = Prompt(_step()).data("lv")
    rows = {row["name"]: row for row in data["variables"]}
    assert data["kind"] == "variables"
    assert list(rows) == ["dense/kernel", "dense/kernel/Momentum", "dense/kernel_1", "steps", "table"]
    assert [*rows["steps"]][:4] == ["name", "dtype", "shape", "nbytes"]
    kernel = rows["dense/kernel"]
    assert (kernel["dtype"], kernel["shape"], kernel["nbytes"], kernel["elements"]) == ("float32", [2, 2], 16, 4)
    assert (kernel["tensor"], kernel["value_of"]) == ("dense/kernel/after_update:0", "updated")
    assert kernel["layer"] == "dense" and kernel["summary"] is None
    assert rows["dense/kernel/Momentum"]["slot_of"] == "dense/kernel"
    told = {name: (row["trainable"], row["read"], row["written"], row["initialized"]) for name, row in rows.items()}
    assert told == {
        "dense/kernel": (True, True, True, True),
        "dense/kernel/Momentum": (False, True, True, True),
        "dense/kernel_1": (True, False, False, None),
        "steps": (False, True, True, True),
        "table": (None, True, False, True),
    }
    assert (rows["table"]["shape"], rows["table"]["nbytes"]) == ([1000, None], None)
    assert (data["total"], data["elements"], data["nbytes"]) == (5, 13, 56)
    assert data["trainable"] == {"total": 2, "elements": 8, "nbytes": 32}
    assert data["near_duplicates"] == [["dense/kernel_1", "dense/kernel"]]


def test_values_are_looked_at_when_they_are_asked_for() -> None:
    prompt = Prompt(_step())
    rows = prompt.data("lv kernel$ --stats")["variables"]
    assert [row["summary"]["nan"] for row in rows] == [1]
    found = prompt.data("lv -f has_inf_or_nan")
    assert [row["name"] for row in found["variables"]] == ["dense/kernel"]
    assert (found["filter"], found["unread"]) == ("has_inf_or_nan", 4)
    assert [row["name"] for row in prompt.data("lv -q 'nan>0 or max>2'")["variables"]] == ["dense/kernel"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("trainable=yes", ["dense/kernel", "dense/kernel_1"]),
        ("written=no", ["dense/kernel_1", "table"]),
        ("initialized=unknown", ["dense/kernel_1"]),
        ("shape=[] or dtype=int64", ["steps"]),
        ("size>1", ["dense/kernel", "dense/kernel/Momentum", "dense/kernel_1"]),
        ("size<10B", ["steps"]),
        ("layer=dense kernel$", ["dense/kernel"]),
        ("rank=0", ["steps"]),
    ],
)
def test_queries(query: str, names: list[str]) -> None:
    assert [row["name"] for row in Prompt(_step()).data(f"lv -q '{query}'")["variables"]] == names


def test_a_name_leads_to_the_value_or_to_the_node() -> None:
    prompt = Prompt(_step())
    assert prompt.link("lv", "dense/kernel") == "pt dense/kernel/after_update:0"
    assert prompt.link("lv", "steps") == "ni -d -t steps"
    assert prompt.link("lv", "Size") == "lv -s size -r"


def test_before_the_run_nothing_is_known_of_values() -> None:
    run = _step()
    prompt = Prompt(RunStart(run.call, run.graph, variables=run.variables))
    rows = {row["name"]: row for row in prompt.data("lv --stats")["variables"]}
    assert rows["dense/kernel"]["written"] and rows["dense/kernel"]["initialized"] is None
    assert rows["dense/kernel"]["summary"] is None


def test_a_run_that_failed_for_a_variable_without_a_value() -> None:
    run = _step()
    error = RunError("NotFoundError", "Could not find variable steps. This could mean that ...", "count")
    prompt = Prompt(replace(run, error=error))
    rows = {row["name"]: row["initialized"] for row in prompt.data("lv")["variables"]}
    assert rows["steps"] is False and rows["dense/kernel"] is None
    assert "1 variable is not initialized: steps." in prompt.show("lv")


def test_a_checkpoint(tmp_path: Path) -> None:
    arrays = {
        "dense/kernel": np.array([1, NAN], np.float32),
        "dense/kernel/Adam": np.zeros(2, np.float32),
        "dense/kernel_1": np.zeros(2, np.float32),
        "global_step": np.array(3, np.int64),
    }
    prompt = Prompt(open_path(checkpoint(tmp_path / "c-1", arrays)))
    assert "Made twice? Of one shape: dense/kernel_1 beside dense/kernel." in prompt.show("lv")
    rows = {row["name"]: row for row in prompt.data("lv -f has_inf_or_nan")["variables"]}
    assert rows["dense/kernel"]["value_of"] == "saved" and rows["dense/kernel"]["trainable"] is True
    assert [row["slot_of"] for row in prompt.data("lv Adam")["variables"]] == ["dense/kernel"]


def test_a_recording_knows_what_is_trainable(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "case")
    for _ in range(2):
        writer.write(_step())
    writer.close()
    opened = open_path(tmp_path / "case")
    assert isinstance(opened, Opened)
    before, after = (Prompt(stop).data("lv --stats") for stop in (RunEnd(_step()), opened))
    assert before == after


def test_nothing_is_a_variable() -> None:
    prompt = Prompt(made_run(op("x", "Placeholder", value=np.ones(2, np.float32))))
    assert prompt.show("lv").splitlines() == ["0 variables", "Nothing in the graph is a variable."]
    assert prompt.data("lv")["variables"] == []


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 30)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_on_the_screen_values_are_counted_as_they_come_into_sight(size: tuple[int, int]) -> None:
    screen = Driven(RunEnd(_step()), "", size=size, opening="lv", registry=_REGISTRY)
    check_golden(f"screens/lv-{size[0]}x{size[1]}", written(screen, 256))


def test_the_shape_of_a_handle_is_not_that_of_the_variable() -> None:
    """A blind test: variables of a function's graph were scalars of 4 B, since the handles that it takes are."""
    handle = op("dense/resource", "Placeholder", device="", dtype="resource", shape="[]")
    graph = made_run(handle, op("read", "ReadVariableOp", "dense/resource", dtype="float32"))
    found = Prompt(replace(graph, call=replace(graph.call, kind=RunKind.GRAPH))).data("lv")
    (variable,) = found["variables"]
    assert (variable["dtype"], variable["shape"], variable["elements"]) == ("float32", None, None)
    assert variable["nbytes"] is None


def test_elements_are_counted_by_the_size_where_no_shape_is_known() -> None:
    """A blind test: a variable of 60 B whose shape nobody had recorded had 0 elements."""
    known = Variable("kernel", "VarHandleOp", "float32", None, 60)
    assert known.elements == replace(known, shape=(None, 3)).elements == 15
    assert replace(known, nbytes=None).elements is None
    assert replace(known, dtype="string").elements is None and replace(known, shape=(5, 0)).elements == 0
