"""Several runs at one stop: stepping from one to the next, listing them, one tensor's history."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support import sample_run
from support.golden import check_golden
from support.kept_stop import kept, step_run
from support.plain_text import plain
from support.prompt import Prompt

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import UiAction
from tfdbg_cli.commands.service.shown_again import shown_again
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.titles import stop_title
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened, Run, RunEnd
from tfdbg_cli.model.tensors import MemoryTensorStore
from tfdbg_cli.model.values import Lack, NoValue

_REGISTRY = standard_registry()


def _number(prompt: Prompt) -> int:
    return prompt.context.run.call.number


def test_stepping_through_time() -> None:
    prompt = Prompt(kept())
    assert _number(prompt) == 400
    assert prompt.run("older") is UiAction.SHOW_AGAIN
    assert _number(prompt) == 399
    prompt.run("older 3")
    assert _number(prompt) == 396
    prompt.run("newer --same")
    assert _number(prompt) == 398
    prompt.run("older --same 2")
    assert _number(prompt) == 395
    assert "first run that was kept" in prompt.error("older").message
    assert _number(prompt) == 395
    prompt.run("newer 5")
    assert "last run that was kept" in prompt.error("newer").message
    assert "no step" in prompt.error("older 0").message


def test_stepping_where_nothing_was_kept() -> None:
    prompt = Prompt(sample_run.run_end())
    assert "--keep N" in prompt.error("older").hint
    assert "not happened" in Prompt(sample_run.run_start()).error("older").message


def test_texts_have_no_history_of_numbers() -> None:
    """A blind test: their maximum was NaN in each run, and the curve marked them as not finite."""
    prompt = Prompt(sample_run.opened(3))
    shown = prompt.show("history names:0")
    assert "It holds no numbers in any of them" in shown and "nan" not in shown and "×" not in shown
    points = prompt.data("history names:0")["points"]
    assert [(point["value"], point["summary"]) for point in points] == [(None, None)] * 3
    assert [point["value"] for point in prompt.data("history names:0 -s nan")["points"]] == [None] * 3


@pytest.mark.parametrize(("lack", "told"), [(Lack.OPAQUE, True), (Lack.DAMAGED, False), (Lack.GONE, False)])
def test_values_that_were_lost_are_not_said_to_be_no_numbers(lack: Lack, told: bool) -> None:
    """A blind test: of a data file that was missing, history said that the tensor holds no numbers."""
    run = step_run(1, 0.5)
    store = MemoryTensorStore([run.tensors[0]], [NoValue(lack, "It is not there.")])
    shown = Prompt(Opened("", [replace(run, tensors=store)] * 2)).show("history step/loss:0")
    assert ("It holds no numbers" in shown) is told and shown.count("It is not there.") == 2


def test_stepping_in_a_recording() -> None:
    prompt = Prompt(sample_run.opened(3))
    assert "first run of the recording" in prompt.error("older").message
    prompt.run("newer --same")
    assert prompt.context.current == 1


def test_lists_and_values_are_those_of_the_run_looked_at() -> None:
    prompt = Prompt(kept())
    assert "nan" in prompt.show("pt loss")
    prompt.run("older 2")
    assert "30000" in prompt.show("pt loss").replace(".", "").replace(" ", "") or "3.e+04" in prompt.show("pt loss")
    assert prompt.data("lt -f has_inf_or_nan")["tensors"] == []
    prompt.run("newer")
    assert len(prompt.data("lt -f has_inf_or_nan")["tensors"]) == 1


def test_the_title_says_which_run_is_shown() -> None:
    context = Context(kept())
    assert plain([stop_title(context)]) == "run-end: run #400: train_step() passed has_inf_or_nan after 400 runs"
    context.step(-2)
    assert plain([stop_title(context)]) == "run-end: run #398: train_step() kept from before run #400"


@pytest.mark.parametrize(
    ("command", "again"),
    [
        ("pt loss[0]", "pt loss[0]"), ("lt -f has_nan", "lt -f has_nan"), ("runs 3", "lt"),
        ("history loss", "history loss"),
        ("help run", "lt"), ("nonsense", "lt"), ("", "lt"), ("ni loss -d", "ni loss -d"), ("set loss 1", "lt"),
        ("again", "lt"), ("bundle /tmp/b", "lt"),
    ],
)  # fmt: skip
def test_a_screen_that_is_about_no_run_gives_way_to_the_list(command: str, again: str) -> None:
    assert shown_again(command, Context(kept()), _REGISTRY) == again


def test_runs_lists_what_was_kept() -> None:
    prompt = Prompt(kept())
    check_golden("commands/runs_kept", prompt.show("runs"))
    data = prompt.data("runs")
    assert [run["run"] for run in data["runs"]] == [395, 396, 397, 398, 399, 400]
    assert (data["path"], data["current"], data["notes"]) == (None, 6, ["Bundle: /data/case"])
    prompt.run("runs 2")
    assert _number(prompt) == 396


def test_the_history_of_a_handle_says_where_the_numbers_are() -> None:
    """Its curve was one of NaN."""
    run = sample_run.sample_run()
    tensor = run.tensors[run.tensors.named("w")[0]]
    handle = MemoryTensorStore([tensor], [NoValue(Lack.OPAQUE, "This is a handle.")])
    prompt = Prompt(Opened("/data/dump", [replace(run, tensors=handle)] * 3))
    shown = prompt.show("history w")
    assert "holds no numbers" in shown and "lo w" in prompt.links("history w")
    assert "× NaN" not in shown


def test_history_answers_when_it_was_first_too_large() -> None:
    prompt = Prompt(kept())
    check_golden("commands/history", prompt.show("history loss --above 1e4"))
    check_golden("commands/history_40", prompt.show("history loss -s mean", 40))
    data = prompt.data("history loss --above 1e4")
    assert data["kind"] == "history"
    assert (data["tensor"], data["statistic"], data["first_above"]) == ("step/loss:0", "absmax", 398)
    assert [point["run"] for point in data["points"]] == [395, 396, 398, 399, 400]
    assert [point["value"] for point in data["points"]] == [1.0, 40.0, 30_000.0, "inf", 1.0]
    assert data["points"][4]["summary"]["nan"] == 1


@pytest.mark.parametrize(
    ("flags", "values"),
    [
        ("-s nan", [0, 0, 0, 0, 1]), ("-s min", [0.5, 1, 1, 1, 1]), ("-s max", [1, 40, 30_000, "inf", 1]),
        ("-s mean", [0.75, 20.5, 15_000.5, 1, 1]), ("-s std", [0.25, 19.5, 14_999.5, 0, 0]),
        ("--all", [1, 40, 7, 30_000, "inf", 1]),
    ],
)  # fmt: skip
def test_every_statistic(flags: str, values: list[Any]) -> None:
    assert [point["value"] for point in Prompt(kept()).data(f"history loss {flags}")["points"]] == values


def test_history_of_a_part_and_of_an_execution() -> None:
    runs = [step_run(1, 1.0, -8.0), step_run(2, 2.0, 3.0)]
    prompt = Prompt(RunEnd(runs[1], None, runs[:1]))
    points = prompt.data("history loss")["points"]
    assert [(point["value"], point["executions"], point["summary"]["size"]) for point in points] == [
        (8, 2, 4),
        (3, 2, 4),
    ]
    assert [point["value"] for point in prompt.data("history loss[0] -n 0")["points"]] == [1, 2]
    assert [point["value"] for point in prompt.data("history loss[0] -n -1")["points"]] == [8, 3]
    assert prompt.data("history loss -n 7")["without"] == 2


def test_history_of_what_was_not_above() -> None:
    assert "In no run is |x| max above 1e+06." in Prompt(
        RunEnd(step_run(2, 1.0), None, [step_run(1, 2.0)])
    ).show("history loss --above 1e6")  # fmt: skip
    text = Prompt(RunEnd(step_run(2, 1.0), None, [step_run(1, 2e6)])).show("history loss --above 1e6")
    assert "may have been so before" in text


def test_history_in_a_recording_with_a_damaged_run() -> None:
    class Damaged(list[Run]):
        def __getitem__(self, index: Any) -> Any:
            if index == 1:
                raise TfdbgError("gone")
            return super().__getitem__(index)

    runs = Damaged([step_run(1, 1.0), step_run(2, 2.0), step_run(3, 3.0), replace(step_run(4, 1.0, name="other"))])
    data = Prompt(Opened("/data", runs)).data("history loss")
    assert [point["run"] for point in data["points"]] == [1, 3]
    assert (data["without"], data["unreadable"]) == (1, 1)


def test_history_before_a_run_or_of_nothing() -> None:
    assert "not happened" in Prompt(sample_run.run_start()).error("history x").message
    assert "no tensor" in Prompt(kept()).error("history lossy").message.lower()
