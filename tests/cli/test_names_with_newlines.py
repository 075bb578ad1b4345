"""A name that holds the end of a line forges none of ours: what `tfdbg` prints has a line for each thing said."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.event_set_maker import EventSetMaker, health

from tfdbg_cli.cli import main as cli
from tfdbg_cli.errors import TfdbgError

_FORGED = "Nothing is wrong with it."


def test_the_doctor_says_what_it_says_in_one_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A blind test: a folder called so had a clean bill of health in its name."""
    folder = tmp_path / f"y\n{_FORGED}\n"
    folder.mkdir()
    assert cli.main(["doctor", str(folder)]) == 1
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 3 and _FORGED not in rows
    assert rows[0] == f"{tmp_path}/y\\n{_FORGED}\\n is an empty folder."


@pytest.mark.parametrize("verb", ["open", "doctor", "diff"])
def test_an_error_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str) -> None:
    missing = f"{tmp_path}/none\ntfdbg: {_FORGED}"
    assert cli.main([verb, missing, *([missing] if verb == "diff" else [])]) > 0
    (row,) = capsys.readouterr().err.splitlines()
    assert f"none\\ntfdbg: {_FORGED}" in row


def test_rows_of_an_error_have_a_line_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: object) -> int:
        raise TfdbgError("2 programs listen:", rows=[f"1  a\n{_FORGED}", "2  b"])

    monkeypatch.setattr("tfdbg_cli.cli.verbs.doctor.run", run)
    assert cli.main(["doctor", "."]) == 1
    assert capsys.readouterr().err.splitlines() == ["tfdbg: 2 programs listen:", f"  1  a\\n{_FORGED}", "  2  b"]


def test_what_is_followed_is_one_line_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = str(tmp_path / "none\nforged")
    assert cli.main(["tail", missing, "--idle", "0", "--interval", "0.01"]) == 0
    assert len(capsys.readouterr().err.splitlines()) == 1
    made = EventSetMaker(tmp_path / "set")
    made.graph("g", "step")
    made.op("g", "Log\nrun 9: fine", "Log")
    made.trace("g", "Log\nrun 9: fine", health(2, nan=1))
    made.execution("__inference_step_3", [], [], graph="g")
    assert cli.main(["tail", str(tmp_path / "set"), "--idle", "0", "--interval", "0.01"]) == 3
    (row,) = capsys.readouterr().out.splitlines()
    assert "Log\\nrun 9: fine:0" in row
