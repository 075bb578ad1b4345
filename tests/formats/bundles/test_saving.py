"""What is saved of a run that cannot be made again, and what is said of it later."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.sample_run import sample_run

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles.reader import read_bundle
from tfdbg_cli.formats.bundles.saving import save_bundle_or_values, save_values
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Run

REASON = "This run cannot be made again: what Next gives holds no numbers."
EAGER = "What ran eagerly cannot be made again: between its ops ran Python."


class Refusing:
    """Stands for the state of a run that is held, but not all of it."""

    def replay_spec(self) -> Any:
        raise TfdbgError(REASON, hint="Take another.")


class Never:
    """As `Refusing`, where nobody is to ask."""

    def replay_spec(self) -> Any:
        raise AssertionError


def _run(held: Any, kind: RunKind = RunKind.FUNCTION) -> Run:
    run = sample_run()
    return replace(run, replayable=held, call=replace(run.call, kind=kind))


def _told(path: Path) -> tuple[str, str]:
    with pytest.raises(TfdbgError, match="not what it takes to make the run again") as refused:
        read_bundle(path)
    return refused.value.message.partition(" again. ")[2], refused.value.hint


def test_why_a_run_cannot_be_made_again_is_told_by_what_was_saved_of_it(tmp_path: Path) -> None:
    """A blind test: --bundle saved the values alone, and `replay` of them said to leave --values away."""
    path = tmp_path / "case"
    assert save_bundle_or_values(_run(Refusing()), path)[-1] == REASON
    assert _told(path) == (REASON, f"`tfdbg open {path}` shows it.")
    (read,) = open_path(path).runs
    assert read.no_replay == REASON
    again = tmp_path / "again"
    save_values(read, again)
    assert _told(again)[0] == REASON, "also of a copy"


def test_that_of_eager_code_is_told_whether_or_not_the_values_alone_were_asked_for(tmp_path: Path) -> None:
    for number, save in enumerate((save_values, save_bundle_or_values)):
        path = tmp_path / str(number)
        save(_run(None, RunKind.EAGER), path)
        assert _told(path)[0] == EAGER


def test_of_values_that_were_asked_for_it_is_said_how_to_save_more(tmp_path: Path) -> None:
    path = tmp_path / "values"
    save_values(_run(Never()), path)
    hint = "; `bundle PATH` without --values saves both, if the run can be made again."
    assert _told(path) == ("", f"`tfdbg open {path}` shows it{hint}")
