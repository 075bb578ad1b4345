"""Seconds behind an option, of a verb of `tfdbg`."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from tfdbg_cli.cli import main as cli
from tfdbg_cli.cli.seconds import seconds


@pytest.mark.parametrize("text", ["0", "0.25", "1e9", "-3"])
def test_a_time_that_a_clock_can_wait_for(text: str) -> None:
    assert seconds(text) == float(text)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e20", "1e400", "", "soon"])
def test_no_time(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="a number of seconds is needed, at most 1000000000"):
        seconds(text)


@pytest.mark.parametrize("words", [["--interval", "nan"], ["--interval", "inf"], ["--idle", "nan"], ["--idle=-inf"]])
def test_tail_and_listen_refuse_what_no_clock_can_wait_for(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A blind test: `--interval nan` ended in a traceback of Python, and `--idle nan` never ended."""
    assert cli.main(["tail", str(tmp_path), *words]) == 1
    assert "a number of seconds is needed" in capsys.readouterr().err
    if words[0] == "--idle":
        assert cli.main(["listen", "127.0.0.1:0", *words]) == 1
        assert "a number of seconds is needed" in capsys.readouterr().err
