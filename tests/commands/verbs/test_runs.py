"""`runs` on recordings of which a part cannot be read."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import sample_run
from support.made_run import made_run, op
from support.masked_run import BAD_LOG, SCORES, masked_run
from support.prompt import Prompt

from tfdbg_cli.commands.views import run_health
from tfdbg_cli.commands.views.lists.run_columns import RunColumns
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.recording.saved_runs import Glance, SavedRuns
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Opened, Run


@pytest.fixture
def prompt(tmp_path: Path) -> Prompt:
    for number in range(3):
        write_dump(sample_run.sample_run(), tmp_path / f"run_{1700000000000000 + number}_{number}")
    opened = open_path(tmp_path)
    shutil.rmtree(tmp_path / "run_1700000000000001_1")
    return Prompt(opened)


def test_a_run_that_is_gone_costs_only_its_row(prompt: Prompt) -> None:
    rows = prompt.show("runs").split("\n")
    assert [number for number in (1, 2, 3) for row in rows if "20" in row and f"run #{number}" in row] == [1, 3]
    assert len([row for row in rows if "unreadable" in row]) == 1
    found = prompt.data("runs")["runs"]
    assert [run["tensors"] for run in found] == [20, None, 20]
    assert "no such" in " ".join(found[1]["notes"]).lower()


def test_a_run_that_cannot_be_read_is_not_chosen(prompt: Prompt) -> None:
    prompt.run("runs 3")
    assert prompt.error("runs 2").message
    assert prompt.data("runs")["current"] == 3
    assert prompt.document("lt").kind == "tensors"


def test_numbers_of_many_runs_are_shown_whole() -> None:
    """The width of a table is chosen from a sample of its rows."""
    assert "10…" not in Prompt(sample_run.opened(1000)).show("runs", 80)


def test_nothing_is_said_about_running_where_nothing_runs(tmp_path: Path) -> None:
    write_dump(sample_run.sample_run(tensors=sample_run.MemoryTensorStore([], [])), tmp_path / "run_1_0")
    text = Prompt(open_path(tmp_path)).show("lt")
    assert "No tensor was captured" in text
    assert "--graph" not in text


def test_the_way_to_the_bad_runs_is_named_and_what_is_known_of_them_is_shown() -> None:
    prompt = Prompt(sample_run.opened(3))
    assert "Which of them hold NaN or infinity: alerts" in prompt.show("runs")
    found = prompt.data("alerts")["alerts"]
    counts = [sum(alert["place"] == place for alert in found) for place in (1, 2, 3)]
    shown = prompt.show("runs").split("\n")
    assert "Alerts" in next(row for row in shown if "Tensors" in row)
    rows = [row for row in shown if "run #3: 1" in row]
    assert [int(row.replace("●", " ").split()[2]) for row in rows] == counts and all(counts), shown
    assert "3 runs with NaN or infinity: alerts" in shown


def test_where_alerts_were_cut_off_the_runs_behind_are_not_called_fine() -> None:
    prompt = Prompt(sample_run.opened(3))
    prompt.data("alerts -m 1")
    shown = prompt.show("runs").split("\n")
    assert "1 run with NaN or infinity at least: not looked behind #1: alerts" in shown
    cells = [row.replace("●", " ").split()[2] for row in shown if "run #3: 1" in row]
    assert cells == ["2+", "?", "?"], shown


def test_few_of_very_many_runs_are_read_before_the_first_row_is_printed() -> None:
    """Each may be a folder on disk."""
    read: list[int] = []

    def reading(number: int) -> Run:
        read.append(number)
        return run

    run = sample_run.sample_run()
    runs = SavedRuns(range(5_000), reading, Glance(lambda number: number))
    prompt = Prompt(replace(sample_run.opened(1), runs=runs))
    lines = prompt.document("runs -q tensors>=1000").lines(None)
    assert any("4,000 of 5,000" in lines[at].text for at in range(5))
    assert len(read) < 500


def gave(*losses: float) -> Opened:
    """A recording of steps that gave their losses under this name."""
    run = sample_run.run_end().run
    call = replace(run.call, kind=RunKind.FUNCTION, function="step", result_names=("loss",))
    made = [op("loss/Mean", "Mean", value=loss) for loss in losses]
    runs = [
        replace(made_run(one), call=replace(call, number=number, fetches=("loss/Mean:0",)))
        for number, one in enumerate(made, 1)
    ]
    return Opened("recording", runs)


def test_what_the_runs_gave_the_program_stands_beside_them() -> None:
    prompt = Prompt(gave(0.25, 1.5, math.nan))
    head, *rows = [row.split() for row in prompt.show("runs").split("\n") if "ealth" in row or "run #" in row][-4:]
    assert head == ["N", "Health", "Results", "Tensors", "Error", "Run"]
    assert [row[row.index("loss") : row.index("loss") + 2] for row in rows] == [
        ["loss", "0.25"], ["loss", "1.5"], ["loss", "nan"],
    ]  # fmt: skip
    told = [run["results"] for run in prompt.data("runs")["runs"]]
    assert told[0] == [{"name": "loss", "tensor": "loss/Mean:0", "value": 0.25}] and told[2][0]["value"] == "nan"


def test_on_a_screen_the_results_of_a_row_are_found_out_when_it_is_in_sight() -> None:
    """A run is read for them: of a thousand runs that takes seconds."""
    prompt = Prompt(gave(*range(200)))
    later = RunColumns(replace(prompt.context, later=True), range(200))
    assert later.missing(5)
    for _ in later.count(5):
        pass
    assert not later.missing(5) and later.missing(6)
    assert "loss 5" in later.table().row(5)[3].text


@pytest.mark.parametrize("path", ["https://example.org/recording", "/data/dump"])
def test_runs_are_not_read_for_results_that_are_far_or_not_shown(path: str) -> None:
    """On a screen each row in sight was read, over the network, for a column that was not there."""
    read: list[int] = []

    def reading(number: int) -> Run:
        read.append(number)
        return run

    run = made_run(op("x", "Identity", value=np.ones(3)))  # no single number comes of it
    runs = SavedRuns(range(50), reading, Glance(lambda number: number))
    prompt = Prompt(Opened(path, runs))
    columns = RunColumns(replace(prompt.context, later=True), range(50))
    read.clear()
    results = columns.results
    assert results is not None and not results.width and not any(map(results.missing, range(50)))
    assert "Results" not in [column.title for column in columns.table().columns]
    told = prompt.data("runs")["runs"]
    assert [row["results"] for row in told] == [None if "://" in path else []] * 50


def test_as_many_results_as_fit_are_shown() -> None:
    run = made_run(*(op(f"metric_{at}/result", "Mean", value=1 / 3) for at in range(5)))
    call = replace(run.call, fetches=tuple(f"metric_{at}/result:0" for at in range(5)))
    text = Prompt(Opened("recording", [replace(run, call=call)] * 2)).show("runs")
    assert text.count("metric_0/result 0.3333 …") == 2 and "metric_1" not in text


def test_a_printed_list_of_very_many_runs_says_that_not_all_were_read() -> None:
    run = gave(0.5).runs[0]
    runs = SavedRuns(range(1_200), lambda _: run, Glance(lambda number: number))
    prompt = Prompt(replace(sample_run.opened(1), runs=runs))
    text = prompt.show("runs")
    assert "The results of the first 1,000 are shown" in text
    assert text.count("loss 0.5") == 1_000


def test_a_run_is_chosen_by_its_number_in_the_program_too() -> None:
    run = sample_run.run_end().run
    prompt = Prompt(
        Opened("recording", [replace(run, call=replace(run.call, number=number)) for number in (1, 6, 11)])
    )
    prompt.run("runs #6")
    assert prompt.data("runs")["current"] == 2
    prompt.run("runs 3")
    assert prompt.data("runs")["current"] == 3
    for text, told in (("#7", "There is no run #7 here"), ("six", "'six' is no run"), ("4", "There is no run 4")):
        assert told in prompt.error(f"runs {text}").message


def test_of_runs_with_one_number_that_of_the_worker_looked_at_is_meant() -> None:
    """A blind test: of two programs that wrote into one folder the first one's was taken, without a word."""
    run = sample_run.run_end().run

    def numbered(number: int, worker: str = "") -> Run:
        return replace(run, call=replace(run.call, number=number, worker=worker))

    prompt = Prompt(Opened("recording", [numbered(1), numbered(2), numbered(1), numbered(2)]))
    error = prompt.error("runs #2")
    assert error.message == "2 runs here are a run #2, of several programs: 2, 4." and "runs 4" in error.hint
    prompt = Prompt(Opened("recording", [numbered(1, "a"), numbered(1, "b"), numbered(2, "a"), numbered(2, "b")]))
    prompt.run("runs 2")
    prompt.run("runs #2")
    assert prompt.data("runs")["current"] == 4


def _masked(number: int, *, bad: bool = False) -> Run:
    run = masked_run(BAD_LOG if bad else op("log", "Log", "scores", value=np.log(SCORES)))
    return replace(run, call=replace(run.call, number=number))


def _training(*bad: int) -> Opened:
    """A recording of four runs with a mask, every other one of the program; those of the numbers `bad` went wrong."""
    return Opened("recording", [_masked(number, bad=number in bad) for number in (1, 3, 5, 7)])


def test_a_column_says_in_which_run_something_is_bad_beyond_what_is_intended() -> None:
    """A blind test: a recording of a model with a mask showed the mask, in every run, and of no run its health."""
    prompt = Prompt(_training(5, 7))
    shown = prompt.show("runs", 80)
    rows = [row.replace("●", " ").split() for row in shown.split("\n") if "session" in row or "run #" in row]
    assert [row[1] for row in rows if row[0].isdigit()] == ["fine", "fine", "bad", "bad"], shown
    assert "The first in which something is wrong is run #5: runs 3" in shown
    assert [run["health"] for run in prompt.data("runs")["runs"]] == ["fine", "fine", "bad", "bad"]
    assert prompt.document("runs 3").kind == "origin"
    assert prompt.document("runs 1").kind == "tensors"
    assert "Nothing is wrong in any of them." in Prompt(_training()).show("runs", 80)


def test_a_screen_begins_at_the_first_bad_run_until_one_is_chosen() -> None:
    prompt = Prompt(_training(5, 7))
    prompt.context.later = True
    document = prompt.document("runs")
    lines = document.lines(80)
    assert document.focus is not None and "run #5" in lines[document.focus].text
    rest = next(lines[at].text for at in range(len(lines)) if "run #7" in lines[at].text)
    assert "…" in rest and "bad" not in rest  # looked at when it is in sight
    prompt.run("runs 2")
    document = prompt.document("runs")
    assert document.focus is not None and "run #3" in document.lines(80)[document.focus].text


def test_in_a_healthy_run_origin_says_so_first_and_which_run_is_bad() -> None:
    prompt = Prompt(_training(5, 7))
    first, second, *rest = prompt.show("origin", 120).split("\n")
    assert first == "Nothing is wrong in run #1: what is not finite in it looks intended."
    assert second == "The first in which something is wrong is run #5: runs 3"
    assert any(row.startswith("Origin    mask:0") for row in rest)
    assert not any(row.startswith("Try") for row in rest)  # a mask that works needs no advice


def test_alerts_leave_out_what_is_intended_and_say_so() -> None:
    prompt = Prompt(_training(5, 7))
    found = prompt.data("alerts")
    assert [(alert["run"], alert["tensor"]) for alert in found["alerts"]] == [(5, "log:0"), (7, "log:0")]
    assert found["left_out"] == 8  # the mask, and the scores to which it was added
    shown = prompt.show("alerts", 130)
    why = "intended (a mask of -inf, gradients of a skipped step) or ignored"
    assert f"8 tensors left out, {why}: alerts --benign show" in shown
    every = prompt.data("alerts --benign show")
    assert len(every["alerts"]) == 10 and every["left_out"] == 0


def test_where_there_was_time_for_one_run_alone_it_is_called_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_health, "_MOST_RUNS", 1)
    said = "Nothing is wrong in the first run; the others were not looked at."
    assert said in Prompt(_training()).show("runs", 80)


def test_what_does_no_harm_is_told_as_that_and_hides_no_run_that_is_bad() -> None:
    """A blind test: each run of a healthy training whose loss is computed of -inf was bad."""

    def ran(number: int, loss: float) -> Run:
        ops = op("p", "Placeholder", value=[0.0, 0.5]), op("log", "Log", "p", value=[-math.inf, -0.7])
        run = made_run(*ops, op("exp", "Exp", "log", value=[0.0, 0.5]), op("loss", "Sum", "exp", value=loss))
        return replace(run, call=replace(run.call, number=number))

    healthy = Prompt(Opened("recording", [ran(1, 0.0), ran(2, 0.0)]))
    assert "Nothing is wrong in any of them." in healthy.show("runs")
    assert [run["health"] for run in healthy.data("runs")["runs"]] == ["harmless"] * 2
    why = "what comes out of a run is finite, or was there before, or the program wrote it down."
    assert f"All of it is harmless: {why}" in healthy.show("alerts", 130)
    ill = Prompt(Opened("recording", [ran(1, 0.0), ran(2, math.nan)]))
    assert "The first in which something is wrong is run #2: runs 2" in ill.show("runs", 80)
    assert f"Harmless in 1 of these 2 runs: {why} runs" in ill.show("alerts", 130)


def test_of_very_many_runs_few_are_looked_at_unasked_and_of_those_that_lie_far_away_none() -> None:
    many = Opened("recording", [_masked(1)] * 500)
    prompt = Prompt(many)
    assert "Nothing is wrong in the first 100 runs; the others were not looked at." in prompt.show("runs", 80)
    told = [run["health"] for run in prompt.data("runs")["runs"]]
    assert told == ["fine"] * 200 + [None] * 300  # a moment more for each time that it is asked
    far = Prompt(replace(_training(5), path="https://far/recording"))
    assert {run["health"] for run in far.data("runs")["runs"]} == {None}
