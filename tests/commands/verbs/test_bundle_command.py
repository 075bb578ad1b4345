from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.held_run import Held
from support.prompt import Prompt
from support.sample_run import PROB, sample_run

from tfdbg_cli.config.settings import Settings
from tfdbg_cli.formats.bundles.layout import is_bundle
from tfdbg_cli.formats.bundles.reader import read_bundle
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.decision import RecordRun
from tfdbg_cli.model.runs import Change, Opened, RunEnd, RunStart
from tfdbg_cli.model.tensors import MemoryTensorStore


def prompt_with(held: Held | None, settings: Settings | None = None) -> Prompt:
    return Prompt(RunEnd(replace(sample_run(), replayable=held)), settings=settings)


def test_a_bundle_is_written_and_named(tmp_path: Path) -> None:
    path = tmp_path / "a b"
    shown = prompt_with(Held()).show(f'bundle "{path}"', 200)
    assert f"The bundle is in {path} (" in shown
    assert f"`tfdbg replay '{path}'` makes the run again, `tfdbg open '{path}'` shows it" in shown
    assert "A file was read." in shown
    assert read_bundle(path).replay_spec.entry == "step"


def test_without_a_name_it_gets_one_that_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    prompt = prompt_with(Held())
    prompt.run("bundle")
    assert "The bundle is in bundle_of_run_3_2 (" in prompt.show("bundle", 200)
    assert {path.name for path in tmp_path.iterdir()} == {"bundle_of_run_3", "bundle_of_run_3_2"}
    assert read_bundle(tmp_path / "bundle_of_run_3_2").replay_spec.entry == "step"


def test_of_a_run_in_which_something_was_set_the_program_s_own_is_taken_home(tmp_path: Path) -> None:
    own = replace(sample_run(), replayable=Held())
    tensors = list(own.tensors)
    set_ = MemoryTensorStore(tensors, [np.zeros_like(own.tensors.value(index)) for index in range(len(tensors))])
    prompt = Prompt(RunEnd(replace(own, tensors=set_, change=Change(own, {tensors[0].name: set_.value(0)}, 1))))
    assert "what `set` replaced is not in it" in prompt.show(f"bundle {tmp_path}/case", 200)
    (saved,) = open_path(tmp_path / "case").runs
    (at,) = saved.tensors.named("prob")
    np.testing.assert_array_equal(saved.tensors.value(at), PROB)


def test_its_json(tmp_path: Path) -> None:
    data = prompt_with(Held()).data(f"bundle {tmp_path}/case")
    assert (data["kind"], data["path"], data["repeatable"]) == ("bundle", str(tmp_path / "case"), True)
    assert data["notes"] == ["A file was read."]


@pytest.mark.parametrize(
    ("held", "why"), [(None, "was not held"), (Held(obstacle="There is a hash table."), "table")]
)
def test_a_run_that_cannot_be_made_again_says_why_and_what_can_be_saved(
    tmp_path: Path, held: Held | None, why: str
) -> None:
    prompt = prompt_with(held)
    error = prompt.error(f"bundle {tmp_path}/case")
    assert why in error.message
    assert "`bundle --values PATH`" in error.hint
    assert not (tmp_path / "case").exists()
    assert f"`tfdbg open {tmp_path}/case`" in prompt.show(f"bundle --values {tmp_path}/case", 200)
    assert not is_bundle(tmp_path / "case")
    assert len(open_path(tmp_path / "case").runs[0].tensors) == len(sample_run().tensors)


def test_the_budget_and_what_is_there_are_respected(tmp_path: Path) -> None:
    prompt = prompt_with(Held(), Settings(disk_budget=100))
    for command in (f"bundle {tmp_path}/case", f"bundle --values {tmp_path}/case"):
        assert "100 B of disk" in prompt.error(command).message
    prompt.run(f"bundle --force {tmp_path}/case")
    prompt = prompt_with(Held())
    error = prompt.error(f"bundle {tmp_path}/case")
    assert "already" in error.message and "--force" in error.hint
    prompt.run(f"bundle --force {tmp_path}/case")


def test_a_name_that_is_no_path(tmp_path: Path) -> None:
    assert prompt_with(Held()).error("bundle 'a\0b'").message


def test_before_a_run_there_is_nothing_to_save(tmp_path: Path) -> None:
    prompt = Prompt(RunStart(Call(1, RunKind.FUNCTION, ())))
    assert prompt.error(f"bundle {tmp_path}/case")
    assert prompt.error("undo")
    assert prompt.run("record case") == RecordRun("case")
    assert prompt.run("record --force 'my case'") == RecordRun("my case", force=True)


def test_of_a_recording_the_values_can_be_saved(tmp_path: Path) -> None:
    prompt = Prompt(Opened("/somewhere", [sample_run()]))
    assert "This is a recording" in prompt.error(f"bundle {tmp_path}/case").message
    prompt.run(f"bundle --values {tmp_path}/case")
    assert (tmp_path / "case").is_dir()
    replayed = Prompt(Opened("/somewhere", [replace(sample_run(), replayable=Held())]))
    replayed.run(f"bundle {tmp_path}/again")
    assert is_bundle(tmp_path / "again")


def test_undo_puts_back_and_says_what_it_could_not() -> None:
    held = Held()
    number = sample_run().call.number
    assert prompt_with(held).show("undo") == f"The variables are as they were before run #{number}."
    assert held.undone == [1]
    held = Held(("The table stays.",))
    assert "The table stays." in prompt_with(held).show("undo")
    assert prompt_with(held).data("undo")["not_undone"] == ["The table stays."]
    assert "was not held" in prompt_with(None).error("undo").message
