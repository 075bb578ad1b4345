"""Sentences on standard error: a path in them may hold anything, and the terminal obeys none of it."""

from __future__ import annotations

import os
import sys
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest

from tfdbg_cli.cli.main import main
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.process.streams import discard_output, flush_output, to_stderr, write
from tfdbg_cli.tui.frontend import TuiFrontend

ODD = "a\x1b]0;title\x07\x9b31m\u202ecod.exe"


def test_a_sentence_is_made_harmless_and_keeps_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    to_stderr(f"There is no {ODD}.\nCheck\tit.")
    assert capsys.readouterr().err == "tfdbg: There is no a\\x1b]0;title\\x07\\x9b31m\\u202ecod.exe.\nCheck\tit.\n"


class ToLog:
    """What programs put in the place of a stream to log what they print: it writes, and that is all."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, text: str) -> None:
        self.written.append(text)


class Broken(ToLog):
    """One whose other end is gone."""

    tried = 0

    def write(self, text: str) -> None:
        self.tried += 1
        raise RuntimeError("no connection")

    def flush(self) -> None:
        self.write("")


def test_what_a_program_put_in_the_place_of_standard_error_need_not_be_a_file(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stderr", log := ToLog())
    to_stderr("Something is said.")
    assert log.written == ["tfdbg: Something is said.\n"]


def test_what_is_still_to_be_written_is_thrown_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "out").open("w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        print("lost")
        discard_output()
        out.flush()
        assert os.path.samestat(os.fstat(out.fileno()), os.stat(os.devnull))
    assert not (tmp_path / "out").read_text()


@pytest.mark.parametrize("stream", [None, ToLog(), StringIO()])
def test_without_a_file_behind_standard_output_nothing_is_thrown_away(monkeypatch, stream) -> None:
    """A blind test: a disk that was full, or a pipe that nobody read, became an AttributeError."""
    monkeypatch.setattr(sys, "stdout", stream)
    discard_output()


def test_where_nothing_can_be_said_nothing_is_raised(monkeypatch, capsys) -> None:
    for stream in (None, broken := Broken()):
        monkeypatch.setattr(sys, "stderr", stream)
        to_stderr("Something is said.")
        flush_output()
    assert broken.tried == 2
    assert capsys.readouterr().out == "", "it is not said elsewhere"


def test_a_stream_that_the_program_closed_is_left_alone(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stderr", stream := StringIO())
    stream.close()
    to_stderr("Something is said.")
    assert stream.closed and capsys.readouterr().out == ""


def test_what_the_encoding_cannot_express_is_replaced() -> None:
    stream = TextIOWrapper(BytesIO(), encoding="ascii", write_through=True)
    write(stream, "3 × 4 … ä")
    assert stream.buffer.getvalue() == b"3 x 4 ~ \\xe4"


@pytest.mark.parametrize("words", [["open", ODD], ["replay", ODD], ["run", ODD], [ODD], ["open", "--ui", ODD]])
def test_a_path_of_the_command_line_does_not_reach_the_terminal_raw(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words)
    told = capsys.readouterr().err
    assert told.startswith("tfdbg: ")
    assert all(line.isprintable() for line in told.split("\n"))


def test_the_full_screen_says_it_so_too(capsys: pytest.CaptureFixture[str]) -> None:
    TuiFrontend(standard_registry(), Settings(), {}).notify(ODD)
    assert capsys.readouterr().err.strip().isprintable()
