"""One line that is rewritten on a terminal, as long as nobody else wrote."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from tfdbg_cli.debugger.progress_line import ProgressLine, bytes_written


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"


class _World:
    """A clock, a terminal, and an account of what was written."""

    def __init__(self, monkeypatch: Any, terminal: bool, accounts: bool = True) -> None:
        self.now = 0.0
        self.written = 0
        self.stream = _Terminal() if terminal else io.StringIO()
        monkeypatch.setattr(sys, "stderr", self.stream)
        monkeypatch.setenv("TERM", "xterm")
        self._accounts = accounts
        self.line = ProgressLine(lambda: self.now, self._account)
        self.line.begin(str)

    def _account(self) -> int | None:
        return self.written + len(self.stream.getvalue()) if self._accounts else None

    def tick(self, seconds: float) -> str:
        """What was written `seconds` later."""
        self.now += seconds
        before = len(self.stream.getvalue())
        self.line.tick(lambda: f"{self.now:.0f} s")
        return self.stream.getvalue()[before:]


def test_on_a_terminal_the_line_is_written_over(monkeypatch: Any) -> None:
    world = _World(monkeypatch, terminal=True)
    assert world.tick(0.5) == ""
    assert world.tick(1) == "tfdbg: 2 s\n"
    assert world.tick(0.5) == ""
    assert world.tick(1) == "\x1b[1A\r\x1b[2Ktfdbg: 3 s\n"


def test_what_the_program_wrote_is_never_written_over(monkeypatch: Any) -> None:
    world = _World(monkeypatch, terminal=True)
    world.written += 10
    assert world.tick(2) == "", "the program wrote since the watch began"
    assert world.tick(29) == "tfdbg: 31 s\n"
    assert world.tick(2) == "\x1b[1A\r\x1b[2Ktfdbg: 33 s\n"
    world.written += 1
    assert world.tick(2) == ""
    assert world.tick(30) == "tfdbg: 65 s\n"


@pytest.mark.parametrize(("terminal", "accounts"), [(False, True), (True, False)])
def test_elsewhere_a_line_every_half_minute(monkeypatch: Any, terminal: bool, accounts: bool) -> None:
    world = _World(monkeypatch, terminal, accounts)
    said = "".join(world.tick(1) for _ in range(95))
    assert said == "tfdbg: 30 s\ntfdbg: 60 s\ntfdbg: 90 s\n"


def test_a_new_beginning_writes_over_nothing(monkeypatch: Any) -> None:
    world = _World(monkeypatch, terminal=True)
    world.tick(2)
    world.line.begin(str)
    assert world.tick(2) == "tfdbg: 4 s\n"


def test_a_long_sentence_keeps_to_its_row(monkeypatch: Any) -> None:
    world = _World(monkeypatch, terminal=True)
    monkeypatch.setattr("tfdbg_cli.debugger.progress_line._columns", lambda: 20)
    world.now = 2
    world.line.tick(lambda: "x" * 100)
    (row,) = world.stream.getvalue().splitlines()
    assert len(row) == 19


def test_a_closed_or_missing_standard_error_is_no_harm(monkeypatch: Any) -> None:
    world = _World(monkeypatch, terminal=True)
    world.stream.close()
    world.now = 40
    world.line.tick(lambda: "x")
    monkeypatch.setattr(sys, "stderr", None)
    world.now = 80
    world.line.tick(lambda: "x")
    world.stream = _Terminal()
    monkeypatch.setattr(sys, "stderr", world.stream)
    assert world.tick(40) == "tfdbg: 120 s\n"


def test_the_account_counts_what_this_process_writes(tmp_path: Any) -> None:
    before = bytes_written()
    if before is None:
        pytest.skip("this system keeps no account")
    (tmp_path / "file").write_bytes(b"x" * 1000)
    after = bytes_written()
    assert after is not None and after >= before + 1000
