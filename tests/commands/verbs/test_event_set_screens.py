"""What a person sees of an event set of Debugger V2: alerts, the timeline, an origin by counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.event_set_maker import small_set
from support.golden import check_golden
from support.prompt import Prompt, follow_all
from support.sample_run import sample_run

from tfdbg_cli.formats.opening import open_path

_WIDTH = 100


@pytest.fixture
def prompt(tmp_path: Path) -> Prompt:
    small_set(tmp_path)
    found = Prompt(open_path(tmp_path), width=_WIDTH)
    found.run("runs 3")
    return found


@pytest.mark.parametrize("command", ["alerts", "timeline", "origin", "lt --stats", "run_info"])
def test_screens(prompt: Prompt, command: str) -> None:
    check_golden(f"event_sets/{command.split()[0]}", prompt.show(command, _WIDTH))


def test_every_link_is_answered(prompt: Prompt) -> None:
    assert follow_all("alerts", prompt.context.stop) > 3
    assert follow_all("timeline", prompt.context.stop) > 3


def test_a_history_of_counts(prompt: Prompt) -> None:
    points = prompt.data("history mul -s nan")["points"]
    assert [(point["run"], point["value"]) for point in points] == [(2, 0), (3, 1)]
    assert "holds no numbers" not in prompt.show("history mul -s nan")
    shown = prompt.show("history mul")
    assert "|x| max of 1 run was not recorded" in shown and "history mul:0 -s nan" in prompt.links("history mul")
    ends = [point["value"] for point in prompt.data("history logarithm/Log -s min")["points"]]
    assert ends == [None, "-inf"], "an infinity that was counted is the least, whatever else is there"
    assert [point["value"] for point in prompt.data("history logarithm/Log -s max")["points"]] == [None, None]
    assert [point["value"] for point in prompt.data("history mul[0] -s nan")["points"]] == [None, None]


def test_rows_are_not_known_without_values(prompt: Prompt) -> None:
    assert "Nobody can tell which rows are bad" in prompt.error("row").message
    prompt.run("runs 2")
    assert "Nothing is NaN or infinite here" in prompt.error("row").message


def test_alerts_and_timeline_of_a_run_with_values() -> None:
    prompt = Prompt(sample_run())
    found = prompt.data("alerts")["alerts"]
    assert {(alert["run"], alert["place"], alert["rule"]) for alert in found} == {(3, 1, "has_inf_or_nan")}
    assert any(str(alert["file"]).endswith("train.py") for alert in found)
    (row,) = prompt.data("timeline")["executions"]
    assert (row["run"], row["place"], row["nonfinite"]) == (3, 1, None)
    assert prompt.data("alerts --nan -m 1")["more"] in (True, False)
    assert prompt.data("alerts -fenn .")["alerts"] == []


def test_the_timeline_of_whole_runs_refuses_to_say_what_they_hold() -> None:
    prompt_of_runs = Prompt(sample_run())
    assert "does not know what runs hold" in prompt_of_runs.error("timeline -q 'bad>0'").message
    assert prompt_of_runs.data("timeline -q 'run=1'")["total"] == 1
