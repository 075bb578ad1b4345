"""The lowest lines of a terminal: the program writes above them, and has all of it back afterwards."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios
import tty
from collections.abc import Iterator

import pyte
import pytest

from tfdbg_cli.line.bottom_lines import BottomLines
from tfdbg_cli.process.own_descriptor import OwnDescriptor


class Terminal:
    """A terminal of 12 rows, and what is on its screen."""

    def __init__(self) -> None:
        self._other, self.descriptor = pty.openpty()
        tty.setraw(self.descriptor)
        os.set_blocking(self._other, False)
        self._screen = pyte.Screen(40, 12)
        self._stream = pyte.ByteStream(self._screen)
        self.resize(40, 12)

    def resize(self, columns: int, rows: int) -> None:
        self.rows  # noqa: B018  # what was written before is shown before
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen.resize(rows, columns)

    def prints(self, *rows: str) -> None:
        os.write(self.descriptor, "".join(f"{row}\r\n" for row in rows).encode())

    @property
    def rows(self) -> list[str]:
        try:
            while True:
                self._stream.feed(os.read(self._other, 1 << 16))
        except BlockingIOError:
            return [row.rstrip() for row in self._screen.display]

    def close(self) -> None:
        os.close(self._other)
        os.close(self.descriptor)


@pytest.fixture
def terminal(monkeypatch) -> Iterator[Terminal]:
    monkeypatch.setattr("os.tcgetpgrp", lambda descriptor: os.getpgrp())  # it is no controlling terminal
    made = Terminal()
    yield made
    made.close()


def test_what_the_program_writes_scrolls_above_them(terminal) -> None:
    said: list[bool] = []
    bottom = BottomLines(OwnDescriptor(terminal.descriptor), 2, said.append)
    terminal.prints("before")
    bottom.draw(["one", "two"])
    terminal.prints(*(f"row {number}" for number in range(20)))
    assert terminal.rows[-4:] == ["row 19", "", "one", "two"]
    assert terminal.rows[0] == "row 11"
    bottom.draw(["one more", "and two"])
    terminal.prints("row 20")
    assert terminal.rows[-4:] == ["row 20", "", "one more", "and two"]
    assert said == [True]
    bottom.give_back()
    assert terminal.rows[-4:] == ["row 20", "", "", ""]
    terminal.prints("a", "b", "c", "d")
    assert terminal.rows[-4:] == ["b", "c", "d", ""]
    assert said == [True, False]


def test_nothing_that_stands_at_the_bottom_is_lost(terminal) -> None:
    terminal.prints(*(f"row {number}" for number in range(11)))
    BottomLines(OwnDescriptor(terminal.descriptor), 2).draw(["one", "two"])
    assert terminal.rows == [*(f"row {number}" for number in range(2, 11)), "", "one", "two"]


def test_they_follow_the_size_and_leave_a_small_terminal_alone(terminal) -> None:
    bottom = BottomLines(OwnDescriptor(terminal.descriptor), 2)
    bottom.draw(["one", "two"])
    terminal.resize(40, 14)
    bottom.draw(["one", "two"])
    assert terminal.rows[-2:] == ["one", "two"]
    assert bottom.columns == 40
    terminal.resize(40, 9)
    bottom.draw(["one", "two"])
    assert "one" not in terminal.rows


def test_a_narrow_terminal_is_left_alone(terminal) -> None:
    terminal.resize(10, 14)
    BottomLines(OwnDescriptor(terminal.descriptor), 2).draw(["one", "two"])
    assert "one" not in terminal.rows


def test_a_terminal_that_is_too_small_is_told(terminal) -> None:
    """A blind test: nothing was drawn for the whole run, and nothing said."""
    bottom = BottomLines(OwnDescriptor(terminal.descriptor), 2)
    terminal.resize(20, 10)
    assert bottom.obstacle == ""
    terminal.resize(20, 9)
    assert bottom.obstacle == (
        "--live draws nothing while the terminal has fewer than 10 lines or 20 columns; it has 9 and 20."
    )


def test_in_the_background_the_terminal_is_the_shells(terminal, monkeypatch) -> None:
    bottom = BottomLines(OwnDescriptor(terminal.descriptor), 2)
    bottom.draw(["one", "two"])
    monkeypatch.setattr("os.tcgetpgrp", lambda descriptor: -1)
    bottom.draw(["one", "two"])
    assert "one" not in terminal.rows


def test_a_terminal_that_is_gone_takes_nothing() -> None:
    reading, writing = os.pipe()
    bottom = BottomLines(OwnDescriptor(writing), 2)
    bottom.draw(["one", "two"])
    os.set_blocking(reading, False)
    with pytest.raises(BlockingIOError):
        os.read(reading, 1)
    for descriptor in (reading, writing):
        os.close(descriptor)
    bottom.draw(["one", "two"])
    assert bottom.columns == 0
