from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.prompt import Prompt
from support.sample_run import sample_run
from support.sample_what_if import changeable

from tfdbg_cli.commands.views.difference.recordings import opened_recording
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.formats.container import data_files
from tfdbg_cli.formats.container.saving import runs_size
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.runs import Hit, Opened, RunEnd


def _stop() -> RunEnd:
    run = sample_run()
    return RunEnd(run, earlier=[replace(run, call=replace(run.call, number=number)) for number in (1, 2)])


def test_the_runs_of_a_stop_are_saved_and_open_again(tmp_path: Path) -> None:
    prompt = Prompt(_stop())
    path = tmp_path / "a b"
    shown = prompt.show(f'save "{path}"', 200)
    assert shown.startswith(f"3 runs are in {path} (") and f"`tfdbg open '{path}'` shows them." in shown
    again = Prompt(Opened("", open_path(path).runs))
    assert [run.call.number for run in again.context.runs] == [1, 2, 3]
    again.run("runs 3")
    assert again.show("origin") == prompt.show("origin")


@pytest.mark.parametrize("command", ["save", "bundle --values"])
def test_what_is_taken_home_says_why_the_watch_stopped_there(tmp_path: Path, command: str) -> None:
    prompt = Prompt(replace(_stop(), hit=Hit("bad_result", "", 1_200)))
    prompt.run(f"{command} {tmp_path}/r")
    *earlier, last = open_path(tmp_path / "r").runs
    assert last.notes[0] == "A watch stopped here: the run passed bad_result, after 1,200 runs."
    assert not any("stopped" in note for run in earlier for note in run.notes)


def test_what_if_is_told_apart_from_the_program(tmp_path: Path) -> None:
    """Both have one number, and the recording is opened by somebody who did not ask."""
    prompt = Prompt(changeable())
    for text in ("set prob 0.5", "again", f"save {tmp_path}/r"):
        said = prompt.show(text)
    assert "1 of them is no run of the program, but of `again`." in said
    found = examined(tmp_path / "r")
    assert any(fact.startswith("Run 2: This is no run of the program") for fact in found.facts)
    own, other = open_path(tmp_path / "r").runs
    assert "what if" not in own.call.title
    assert other.call.title == f"{own.call.title} what if: prob:0 replaced"
    assert other.notes[0].startswith("This is no run of the program")


def test_what_if_that_was_saved_is_told_as_it_was_before(tmp_path: Path) -> None:
    """A blind test: `runs`, `alerts`, `history`, `origin` and `diff` of the recording took it for the program's."""
    live = Prompt(changeable())
    for text in ("set prob 0.5", "again", f"save {tmp_path}/r"):
        live.run(text)
    prompt = Prompt(Opened("r", open_path(tmp_path / "r").runs))
    prompt.run("runs 2")
    assert prompt.context.asks_what_if
    assert prompt.show("diff") == live.show("diff")
    left = "1 run with values of your own (`again`) left out"
    assert f"{left}, that on show among them." in prompt.show("history prob")
    assert left in prompt.show("alerts")
    own = Prompt(Opened("r", prompt.context.runs[:1]))
    assert prompt.data("alerts")["alerts"] == own.data("alerts")["alerts"]
    assert "what if: prob:0 replaced" in prompt.show("runs").splitlines()[-1]
    said = prompt.show(f"export {tmp_path}/p.npy prob")
    assert "It is of a run with other values: what if: prob:0 replaced." in said
    prompt.run("original")
    assert prompt.context.current == 0
    assert prompt.context.run.call.replaced == ()
    assert [run.call.replaced for run in opened_recording(f"{tmp_path}/r").runs] == [()]


def test_one_run_and_its_json(tmp_path: Path) -> None:
    data = Prompt(_stop()).data(f"save --one --compress {tmp_path}/r")
    assert data == {
        "command": f"save --one --compress {tmp_path}/r", "kind": "save", "path": str(tmp_path / "r"), "runs": 1,
        "notes": [],
    }  # fmt: skip
    assert len(open_path(tmp_path / "r").runs) == 1


def test_nothing_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "mine").touch()
    error = Prompt(_stop()).error(f"save --force {tmp_path}/r")
    assert "There is something at" in error.message
    assert (tmp_path / "r" / "mine").exists()


def test_the_budget_holds_unless_it_is_overrun(tmp_path: Path) -> None:
    prompt = Prompt(_stop(), settings=Settings(disk_budget=1000))
    assert "would take about" in prompt.error(f"save {tmp_path}/r").message
    assert not (tmp_path / "r").exists()
    prompt.run(f"save --force {tmp_path}/r")


def test_what_all_runs_share_counts_for_the_budget(tmp_path: Path) -> None:
    """A blind test: the graphs and sources were in no estimate, and a save filled the disk behind its budget."""
    stop = _stop()
    values = runs_size([stop.run, *stop.earlier])
    Prompt(stop).run(f"save {tmp_path}/whole")
    taken = sum(file.stat().st_size for file in (tmp_path / "whole").rglob("*") if file.is_file())
    assert values < taken
    for budget, fits in ((values, False), (2 * taken, True)):
        prompt = Prompt(stop, settings=Settings(disk_budget=budget))
        if fits:
            prompt.run(f"save {tmp_path}/r")
        else:
            assert "would take about" in prompt.error(f"save {tmp_path}/r").message
            assert not (tmp_path / "r").exists()


def test_what_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(data_files.os, "pwrite", fails)
    error = Prompt(_stop()).error(f"save {tmp_path}/r")
    assert error.message == f"The disk is full: {tmp_path}/r was not saved."
    assert "save --one" in error.hint
    assert list(tmp_path.iterdir()) == []


def test_a_recording_is_saved_as_another_one(tmp_path: Path) -> None:
    Prompt(_stop()).run(f"save {tmp_path}/one")
    opened = Prompt(Opened("", open_path(tmp_path / "one").runs))
    opened.run(f"save {tmp_path}/two")
    assert len(open_path(tmp_path / "two").runs) == 3
