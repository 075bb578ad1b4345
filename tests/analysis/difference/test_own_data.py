"""Two workers beside each other: their batches differ by nature, what they share must not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.golden import check_golden
from support.made_run import Op, made_run, op
from support.prompt import Prompt
from support.worker_steps import opened_job, worker_step

from tfdbg_cli.analysis.difference.compared import TensorFate
from tfdbg_cli.analysis.difference.compared_recordings import compared_recordings
from tfdbg_cli.analysis.difference.comparison import Comparison, compared_runs
from tfdbg_cli.cli.main import main
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.jobs.root import folder_for
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.tensors import gone


def _states(comparison: Comparison) -> dict[str, TensorFate]:
    tensors = comparison.runs[0].tensors
    return {tensors[one.rows[0]].node: one.state for one in comparison.verdicts}


def test_what_comes_of_a_batch_differs_by_nature() -> None:
    comparison = compared_runs(worker_step("a", 1.0), worker_step("b", 5.0))
    assert comparison.same and comparison.first is None
    assert _states(comparison) == dict.fromkeys(
        ("x", "mul", "loss", "gradient_tape/mul", "count/after_update"), TensorFate.OWN_DATA
    )
    assert comparison.counts[TensorFate.EQUAL] == len(comparison.pairs.rows) - 5


def test_runs_of_one_worker_are_compared_as_ever() -> None:
    comparison = compared_runs(worker_step("a", 1.0), worker_step("a", 5.0))
    assert not comparison.same and TensorFate.OWN_DATA not in _states(comparison).values()


def _first(comparison: Comparison) -> str:
    assert comparison.first is not None and not comparison.same
    return comparison.runs[0].tensors[comparison.first.rows[0]].node


def test_what_a_collective_gives_is_to_be_the_same() -> None:
    comparison = compared_runs(worker_step("a", 1.0), worker_step("b", 5.0, reduced=7.0))
    assert _first(comparison) == "reduce"
    assert _states(comparison)["scaled"] is TensorFate.FOLLOWS


def test_a_weight_that_was_updated_otherwise() -> None:
    assert _first(compared_runs(worker_step("a", 1.0), worker_step("b", 5.0, after=-3.0))) == "w/after_update"


def test_a_weight_that_differs_before_theworker_step() -> None:
    assert _first(compared_runs(worker_step("a", 1.0), worker_step("b", 5.0, weight=1.5, after=-11.0))) == "w/read"


@pytest.mark.parametrize("op_type", ["RandomUniform", "IteratorGetNext", "Placeholder"])
def test_batches_and_random_numbers_are_given_to_each(op_type: str) -> None:
    def run(worker: str, value: float) -> Run:
        made = made_run(
            op("shape", "Const", value=np.int32([1])),
            op("drawn", op_type, *(() if op_type == "Placeholder" else ("shape",)), value=np.float32([value])),
            op("exp", "Exp", "drawn", value=np.exp(np.float32([value]))),
        )
        return replace(made, call=replace(made.call, worker=worker))

    comparison = compared_runs(run("a", 0.5), run("b", 0.75))
    assert comparison.same and _states(comparison) == {"drawn": TensorFate.OWN_DATA, "exp": TensorFate.OWN_DATA}


def test_something_of_its_own_behind_the_collective() -> None:
    comparison = compared_runs(worker_step("a", 1.0), worker_step("b", 5.0, scale=3.0))
    assert _first(comparison) == "two" and _states(comparison)["scaled"] is TensorFate.FOLLOWS


@pytest.mark.parametrize(("name", "after"), [("equal", None), ("apart", -3.0)])
def test_the_page(name: str, after: float | None) -> None:
    prompt = Prompt(opened_job(after), width=80)
    check_golden(f"commands/diff_workers_{name}", prompt.show("diff 1 2", 80))
    data = prompt.data("diff 1 2")
    assert data["own_data"] == 5 and (data["first"] is None) is (after is None)


def _job(root: Path) -> Path:
    for worker, batch, after in (("chief0", 1.0, None), ("worker1", 5.0, None), ("worker2", 5.0, -3.0)):
        writer = RecordingWriter(folder_for(root, worker))
        for number in (1, 2):
            run = worker_step("", batch, after=after if number == 2 else None)
            writer.write(replace(run, call=replace(run.call, number=number)))
        writer.close()
    return root


def test_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = str(_job(tmp_path / "job"))
    assert main(["diff", job, "--workers", "chief0", "worker1"]) == 0
    assert "all 2 pairs agree" in capsys.readouterr().out
    assert main(["diff", job, "--workers", "chief0", "worker2"]) == 1
    said = capsys.readouterr().out
    assert "run #2 of chief0" in said and "run #2 of worker2" in said and "w/after_update:0" in said
    assert main(["diff", job, "--workers", "chief0", "worker3"]) == 2
    assert "There is no worker worker3" in (said := capsys.readouterr().err) and "chief0, worker1, worker2" in said
    assert main(["diff", job]) == 2
    assert "--workers chief0 worker1" in capsys.readouterr().err


def _updating_steps(*after: Op) -> Opened:
    """A step of two workers that update a variable, with the ops `after` that show what it holds then."""
    steps = []
    for worker, batch in (("a", 1.0), ("b", 5.0)):
        run = made_run(
            op("x", "Placeholder", value=np.float32([batch])),
            op("reduce", "CollectiveReduceV2", "x", value=np.float32([6.0])),
            op("w", "VarHandleOp"),
            op("assign", "AssignSubVariableOp", "w", "reduce"),
            *after,
        )
        steps.append(replace(run, call=replace(run.call, worker=worker)))
    return Opened("/shared/runs", steps, workers=("a", "b"))


def test_where_every_updated_variable_is_equal_it_was_compared() -> None:
    """A blind test: what the variables are after the update was said not to be recorded, unless one differed."""
    after = op("w/after_update", "UpdatedVariable", "w", "reduce", value=np.float32([-5.0]))
    shown = Prompt(_updating_steps(after), width=None).show("diff 1 2", None)
    assert "Nothing diverges: what all workers are to share is the same" in shown


def test_where_no_variable_was_recorded_after_its_update_that_is_said() -> None:
    shown = Prompt(_updating_steps(), width=None).show("diff 1 2", None)
    assert "what they are afterwards was not recorded, and not compared." in shown
    lost = op("w/after_update", "UpdatedVariable", "w", "reduce", value=gone("It was not kept."))
    shown = Prompt(_updating_steps(lost), width=None).show("diff 1 2", None)
    assert "what they are afterwards was not recorded, and not compared." in shown
    shown = Prompt(Opened("/shared/runs", [worker_step("a", 1.0), worker_step("b", 5.0)])).show("diff 1 2", None)
    assert "Nothing diverges: what all workers are to share is the same" in shown


def test_what_differs_by_nature_does_so_where_the_next_run_is_given_it() -> None:
    """A blind test: a mean that each worker keeps is fed to the next run, which seemed to agree but for rounding."""

    def runs(worker: str, batch: float) -> list[Run]:
        first = made_run(
            op("m", "VarHandleOp"), op("x", "Placeholder", value=np.float32([batch])),
            op("m/after_update", "UpdatedVariable", "m", "x", value=np.float32([batch])),
        )  # fmt: skip
        again = op("y", "Square", "m", value=np.square(np.float32([batch])))
        second = made_run(op("m", "Placeholder"), again, feeds={"m:0": np.float32([batch])})
        return [
            replace(run, call=replace(run.call, worker=worker, number=number))
            for number, run in enumerate((first, second), 1)
        ]

    found = compared_recordings(runs("a", 1.0), runs("b", 5.0))
    assert found.count == 2 and found.comparison.same and _states(found.comparison) == {"y": TensorFate.OWN_DATA}
