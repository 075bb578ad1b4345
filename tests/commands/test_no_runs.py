"""A recording without a run, such as a log directory of Debugger V2 that was cut off: all commands say so."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from support.prompt import Prompt
from support.screen import Driven

from tfdbg_cli.commands.interpreter import moment_of
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.document.document import Document
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened

_EMPTY = Opened("/logs", ())


@pytest.mark.parametrize("arguments", ["", "a:0", "1", "1 2", "-q nan>0", "-f has_nan"])
def test_no_command_fails_by_a_bug(arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # `save 1` writes a recording called 1
    prompt = Prompt(_EMPTY)
    for name in standard_registry().names_at(moment_of(prompt.context)):
        with suppress(TfdbgError):
            outcome = prompt.run(f"{name} {arguments}")
            if isinstance(outcome, Document):
                outcome.lines(80)
                outcome.data()


def test_what_is_about_a_run_says_that_there_is_none() -> None:
    prompt = Prompt(_EMPTY)
    for command in ("lt", "layers", "origin", "older", "newer"):
        with pytest.raises(TfdbgError) as told:
            prompt.run(command)
        assert told.value.message == "No run of /logs was written." and "doctor" in told.value.hint


def test_the_screen_opens_on_it() -> None:
    assert "0 runs" in Driven(_EMPTY, "j ret o esc :lt ret", opening="runs", registry=standard_registry()).text
