"""A prompt that cannot open says what it was for."""

from __future__ import annotations

import errno
import os

import pytest
from support.sample_run import run_end, run_failed, run_hit, run_start
from support.scripted import ScriptedFrontend

from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.prompt import Prompt
from tfdbg_cli.model.decision import Decision, Detach
from tfdbg_cli.model.runs import RunEnd, RunStart, Stop

_TITLE = run_end().run.call.title


def _told(event: RunStart | RunEnd, error: Exception, capsys: pytest.CaptureFixture[str]) -> list[str]:
    def broken(_: Stop) -> Decision:
        raise error

    prompt = Prompt(lambda: ScriptedFrontend(broken), Settings())
    assert prompt.open(event, None) == Detach()
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("event", "what"),
    [
        (run_hit(), f"to show that {_TITLE} passed has_inf_or_nan after 7 runs. The watch ends here."),
        (run_failed(), f"to show that {_TITLE} failed with InvalidArgumentError."),
        (run_end(), f"to open on {_TITLE}."),
        (run_start(), f"to open before {run_start().call.title}."),
    ],
)
def test_what_it_was_to_show_is_said(event: RunStart | RunEnd, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A blind test: nothing said that a watch had found a NaN, nor in which run."""
    first, second = _told(
        event, RuntimeError(what), capsys
    )  # other words each time: what recurs is not told for ever
    assert first == f"tfdbg: could not open the prompt (RuntimeError: {what}); the program goes on without it."
    assert second == f"tfdbg: The prompt was {what}"


def test_where_no_more_files_can_be_opened_it_says_how_to_have_more(capsys: pytest.CaptureFixture[str]) -> None:
    *_, last = _told(run_hit(), OSError(errno.EMFILE, os.strerror(errno.EMFILE), "standard.py"), capsys)
    assert last == (
        "tfdbg: The program has opened as many files as it may, so tfdbg cannot open its own: let it close some, or"
        " raise the limit (`ulimit -n`)."
    )
