"""A command that works in one piece: a terminal hears that it does, and nothing is left of it."""

from __future__ import annotations

import io
import threading

import pyte
import pytest

from tfdbg_cli.cli import waiting
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.lazy_lines import LazyLines
from tfdbg_cli.document.text import Line, line
from tfdbg_cli.line import busy_line, waiting_line
from tfdbg_cli.line.busy_line import BusyLine
from tfdbg_cli.line.output import TextOutput
from tfdbg_cli.process.own_threads import all_threads

_LONG = 60.0  # seconds, of which none is waited where a line comes


class _Terminal(io.StringIO):
    """A terminal that lets somebody wait for a text on it."""

    def __init__(self, awaited: str) -> None:
        super().__init__()
        self.seen = threading.Event()
        self._awaited = awaited

    def write(self, text: str) -> int:
        written = super().write(text)
        if self._awaited in text:
            self.seen.set()
        return written

    def isatty(self) -> bool:
        return True

    def rows(self) -> list[str]:
        """What is to be read on it: a line that was drawn and wiped again is not."""
        screen = pyte.Screen(80, 2)
        pyte.Stream(screen).feed(self.getvalue().replace("\n", "\r\n"))
        return [row.rstrip() for row in screen.display]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_line, "_PATIENCE", 0)
    monkeypatch.setattr(waiting_line, "_BETWEEN", 0)
    monkeypatch.setattr(busy_line, "_BETWEEN", 0.001)


def test_what_works_in_one_piece_is_told_by_seconds_and_wiped() -> None:
    terminal = _Terminal("working … 0 s  (Ctrl-C stops)")
    with BusyLine(terminal):
        assert terminal.seen.wait(_LONG)
    assert terminal.getvalue().endswith("\r")
    assert not [one for one in all_threads() if one.name == "tfdbg-busy-line"]


def test_a_share_that_is_known_is_told() -> None:
    terminal = _Terminal("comparing runs … 42%  (Ctrl-C ends)")
    with pytest.raises(KeyboardInterrupt), BusyLine(terminal, "comparing runs", end="ends") as busy:
        busy.tell(0.42)
        assert terminal.seen.wait(_LONG)
        raise KeyboardInterrupt
    assert terminal.getvalue().endswith("\r")


def test_lines_that_take_long_to_be_made_are_waited_for_as_a_command_is() -> None:
    """A blind test: `pt -a` of a large array, which answers at once, and makes its rows when they are printed."""
    terminal = _Terminal("working …")

    class Slow(LazyLines):
        def __len__(self) -> int:
            return 1

        def line_at(self, index: int) -> Line:
            assert terminal.seen.wait(_LONG)
            return line("[1. 2. 3.]")

    class Block(Text):
        def lines(self, width: int | None) -> Slow:
            return Slow()

    TextOutput(terminal, color=False, width=80).document("pt", Document("tensor", (Block(()),)))
    assert terminal.rows() == ["[1. 2. 3.]", ""], "the answer stands where the line was"


def test_elsewhere_than_at_a_terminal_nothing_is_drawn() -> None:
    stream = io.StringIO()
    with TextOutput(stream, color=False, width=None).working():
        assert not [one for one in all_threads() if one.name == "tfdbg-busy-line"]
    assert stream.getvalue() == ""


def test_a_verb_without_a_terminal_says_once_what_it_still_does(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    heard = threading.Event()

    def hear(sentence: str) -> None:
        said.append(sentence)
        heard.set()

    monkeypatch.setattr(waiting, "_SILENT", 0.001)
    monkeypatch.setattr(waiting, "to_stderr", hear)
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert waiting.told_while("comparing runs", lambda told: heard.wait(_LONG))
    assert said == ["Still comparing runs. Ctrl-C ends."]


def test_a_verb_at_a_terminal_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Terminal("comparing runs … 50%  (Ctrl-C ends)")
    monkeypatch.setattr("sys.stderr", terminal)

    def work(told: object) -> bool:
        assert callable(told)
        told(0.5)
        return terminal.seen.wait(_LONG)

    assert waiting.told_while("comparing runs", work)
    assert terminal.getvalue().endswith("\r")
