"""A run saved while the program waits: whatever fails becomes a sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.made_run import made_run, op
from support.sample_run import sample_run

from tfdbg_cli.debugger import run_saving
from tfdbg_cli.debugger.run_saving import reason_of, saved_in_words
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.runs import Run


def _saved(path: Path, run: Run | None = None) -> tuple[str, ...]:
    return saved_in_words(run or sample_run(), path, disk_budget=0, force=False, failure="Nothing was saved")


def test_it_says_where_the_run_is(tmp_path: Path) -> None:
    said = _saved(tmp_path / "case")
    assert said[0].startswith(f"The values of the run are in {tmp_path / 'case'}")
    assert (tmp_path / "case").is_dir()


def test_it_promises_no_values_where_there_are_none(tmp_path: Path) -> None:
    """A blind test: of a run that failed before anything was captured, its values were said to be in the folder."""
    run = made_run(op("x", "Placeholder"), op("y", "Log", "x"))
    failed = replace(run, error=RunError("InvalidArgumentError", "oh", "y"))
    for one, begins in (
        (run, "The graph of the run is in "),
        (failed, "The error of the run, and its graph, are "),
    ):
        said, *_ = _saved(tmp_path / begins[4:9], one)
        assert said.startswith(begins) and said.endswith("No value of it was captured.")


def test_it_says_why_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "case").write_text("something else")
    (said,) = _saved(tmp_path / "case")
    assert said.startswith("Nothing was saved: ")
    assert (tmp_path / "case").read_text() == "something else"


def test_a_fault_of_ours_is_a_sentence_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **keywords: object) -> tuple[str, ...]:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(run_saving, "save_bundle_or_values", broken)
    assert _saved(tmp_path / "case") == ("Nothing was saved: ZeroDivisionError: oh",)


def test_reasons() -> None:
    assert reason_of(TfdbgError("No room.", hint="Make some.")) == str(TfdbgError("No room.", hint="Make some."))
    assert reason_of(ValueError("x")) == "ValueError: x"
