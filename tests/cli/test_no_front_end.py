"""`tfdbg run --ui none`: nobody is told anything, so that nothing can be asked for that somebody should be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfdbg_cli.cli.main import _parsed, main
from tfdbg_cli.cli.no_front_end import refuse_untold
from tfdbg_cli.errors import TfdbgError

_ASKED = [["--watch"], ["--until", "has_inf_or_nan", "--bundle", "b"], ["--trends"], ["--record", "r", "--watch"]]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TFDBG_UI", raising=False)
    (tmp_path / "x.py").write_text("print('it ran')")
    return "x.py"


@pytest.mark.parametrize("words", _ASKED)
def test_a_watch_that_nobody_would_be_told_of_is_refused(
    script: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A blind test: the program ran undebugged, no bundle was written, and nothing was said."""
    assert main(["run", "--ui", "none", *words, script]) == 1
    found = capsys.readouterr()
    asked = next(word for word in words if word in ("--watch", "--until", "--trends"))
    assert f"--ui none and {asked} exclude each other: without a front end nobody is told anything." in found.err
    assert "--on-hit none" in found.err and not found.out


def test_where_the_variable_says_so_the_program_runs_and_it_is_said(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TFDBG_UI", "none")
    refuse_untold(_parsed(["run", "--watch", script]))
    said = "tfdbg: TFDBG_UI=none: without a front end nobody is told what comes of --watch.\n"
    assert capsys.readouterr().err == said
    refuse_untold(_parsed(["run", "--ui", "line", "--watch", script]))


@pytest.mark.parametrize(
    "words",
    [
        ["--ui", "none"],
        ["--ui", "none", "--record", "r"],
        ["--ui", "none", "--rules", "r.toml"],
        ["--ui", "none", "--watch", "-c", "lt"],
        ["--watch"],
        ["--ui", "none", "--watch", "--listen", ":0"],
        ["--ui", "none", "--watch", "--dormant"],
    ],
)
def test_what_tells_somebody_is_let_pass(script: str, words: list[str]) -> None:
    """A seat for visitors excludes --ui in words of its own."""
    refuse_untold(_parsed(["run", *words, script]))


def test_the_hint_leads_to_what_is_taken(script: str) -> None:
    with pytest.raises(TfdbgError, match="exclude each other") as caught:
        refuse_untold(_parsed(["run", "--ui", "none", "--watch", script]))
    assert caught.value.hint.startswith("Leave it out:")
    refuse_untold(_parsed(["run", "--watch", "--on-hit", "none", script]))
