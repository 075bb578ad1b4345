"""Two replicas of one run beside each other: paired by name, though one stands in a scope of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.golden import check_golden
from support.made_run import made_run, op
from support.prompt import Prompt
from support.replica_steps import replicated_step

from tfdbg_cli.analysis.difference.compared import TensorFate
from tfdbg_cli.analysis.difference.compared_recordings import compared_in_replicas
from tfdbg_cli.analysis.difference.comparison import Comparison, compared_replicas
from tfdbg_cli.analysis.graph.nodes.membership import membership_of
from tfdbg_cli.cli.main import main
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.model.runs import Opened


def _states(comparison: Comparison) -> dict[str, TensorFate]:
    tensors = comparison.runs[1].tensors
    return {tensors[one.rows[1]].node: one.state for one in comparison.verdicts}


def test_who_belongs_to_which_replica() -> None:
    run = replicated_step()
    membership = membership_of(run)
    assert membership.replicas == [0, 1]
    assert {name for name in run.graph.names() if name not in membership.replica} == {"AddN", "half"}
    second = {name for name, number in membership.replica.items() if number == 1}
    assert {"x_1", "w/replica_1", "Identity_1", "update_1/scaled", "w/replica_1/after_update"} < second
    assert {"x", "read", "Identity", "update_0/scaled", "w/after_update"} <= {
        n for n, k in membership.replica.items() if k == 0
    }


def test_without_devices_the_readers_tell() -> None:
    run = replicated_step()
    nodes = [node._replace(device="") for node in run.graph]
    membership = membership_of(replace(run, graph=type(run.graph)(nodes)))
    assert membership.replica["x_1"] == 1 and membership.replica["x"] == 0 and "AddN" not in membership.replica


def test_what_comes_of_each_part_of_the_batch_is_counted() -> None:
    comparison = compared_replicas(replicated_step(seen=3.0), (0, 1))
    assert comparison.same and comparison.peer == "replica"
    own = {"x_1", "replica_1/seen/read", "seen/replica_1/after_update"}
    own |= {f"replica_1/{name}" for name in ("mul", "loss", "gradient_tape/mul")}
    assert _states(comparison) == dict.fromkeys(own, TensorFate.OWN_DATA)
    assert not comparison.pairs.only_first and not comparison.pairs.only_second


def test_what_differs_by_nature_does_so_in_the_next_run_too() -> None:
    """A blind test: a metric of each replica's own, of which the next run seemed to agree but for rounding."""
    runs = [replicated_step(), replicated_step(first_seen=1.0, seen=5.0)]
    numbered = [replace(run, call=replace(run.call, number=at)) for at, run in enumerate(runs, 1)]
    found = compared_in_replicas(numbered, (0, 1)).comparison
    alone = compared_in_replicas(numbered, (0, 1), number=2).comparison
    assert _states(found) == _states(alone)
    assert _states(found)["replica_1/seen/read"] is TensorFate.OWN_DATA and not found.way_of_growth()


def test_what_differs_by_nature_is_read_in_a_run_that_does_not_update_it() -> None:
    """As a mean is that each replica keeps for itself, where the model is evaluated: nothing there tells of it."""
    trained, read = replicated_step(), replicated_step(first_seen=1.0, seen=5.0)
    kept = [node for node in read.graph if node.op_type != "UpdatedVariable" or node.name.startswith("w")]
    evaluated = replace(read, graph=type(read.graph)(kept))
    numbered = [replace(run, call=replace(run.call, number=at)) for at, run in enumerate((trained, evaluated), 1)]
    found = compared_in_replicas(numbered, (0, 1)).comparison
    assert found.same and _states(found)["replica_1/seen/read"] is TensorFate.OWN_DATA


def _first(comparison: Comparison) -> tuple[str, str]:
    assert comparison.first is not None and not comparison.same
    ours, theirs = (run.tensors[row].node for run, row in zip(comparison.runs, comparison.first.rows, strict=True))
    return ours, theirs


def test_a_copy_of_a_variable_that_was_not_updated() -> None:
    assert _first(compared_replicas(replicated_step(forgotten=True), (0, 1))) == (
        "w/after_update",
        "w/replica_1/after_update",
    )


def test_a_copy_of_a_variable_that_began_otherwise() -> None:
    assert _first(compared_replicas(replicated_step(weight=2.0), (0, 1))) == ("read", "replica_1/read")
    assert _first(compared_replicas(replicated_step(weight=2.0), (1, 0))) == ("replica_1/read", "read")


@pytest.mark.parametrize(("name", "forgotten"), [("equal", False), ("apart", True)])
def test_the_replica_page(name: str, forgotten: bool) -> None:
    prompt = Prompt(replicated_step(forgotten=forgotten), width=80)
    check_golden(f"commands/diff_replicas_{name}", prompt.show("diff --replicas", 80))
    data = prompt.data("diff --replicas 0 1")
    assert data["own_data"] == 5 and (data["first"] is None) is not forgotten
    if forgotten:
        assert (data["first"]["line_a"], data["first"]["line_b"]) == (7, 7)
        assert data["first"]["b"] == "w/replica_1/after_update:0"
    for link in prompt.links("diff --replicas"):
        prompt.document(link)


def test_which_replicas_are_meant() -> None:
    prompt = Prompt(Opened("/data", [replicated_step(), replicated_step(forgotten=True)]))
    assert prompt.data("diff 2 --replicas")["first"] and not prompt.data("diff --replicas 1")["first"]
    assert prompt.data("diff --replicas 1 0")["different"] == 0
    assert "There are: 0, 1." in str(prompt.error("diff --replicas 2"))
    assert "There are: 0, 1." in str(prompt.error("diff --replicas 0 7"))
    assert "Two replicas" in prompt.error("diff --replicas 0 1 2").message
    for itself in ("0", "0 0", "1 1"):
        assert "compared with itself" in prompt.error(f"diff --replicas {itself}").message
    assert "one run" in prompt.error("diff 1 2 --replicas").message
    assert "one graph" in prompt.error("diff --replicas --graphs").message
    alone = Prompt(made_run(op("a", "Const", value=1.0)))
    assert "several replicas" in alone.error("diff --replicas").message


def test_the_program_compares_each_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r"
    writer = RecordingWriter(path)
    for number, forgotten in ((1, False), (2, False), (3, True)):
        run = replicated_step(forgotten=forgotten)
        writer.write(replace(run, call=replace(run.call, number=number)))
    writer.close()
    assert main(["diff", str(path), "--replicas"]) == 1
    said = capsys.readouterr().out
    assert "pair 3 of 3 is the first that differs" in said and "run #3 of replica 1" in said
    assert main(["diff", str(path), "--run", "2", "--replicas", "0", "1"]) == 0
    assert "Nothing diverges: what all replicas are to share" in capsys.readouterr().out
    assert main(["diff", str(path), "--replicas", "4"]) == 2
    assert main(["diff", str(path), str(path), "--replicas"]) == 2
    assert "recording" in capsys.readouterr().err
