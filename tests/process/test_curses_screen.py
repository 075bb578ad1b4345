"""The screen of a program that draws by curses is left and drawn anew, where there is one."""

from __future__ import annotations

import faulthandler
import signal
import sys
import threading

import pytest

from tfdbg_cli.process.curses_screen import CursesScreen
from tfdbg_cli.tui.terminal.deadly_signals import ends_the_program


class Curses:
    """Stands for Python's module; `shown` tells whether the program has the screen, None if it never took it."""

    error = type("error", (Exception,), {})

    def __init__(self, *, shown: bool | None) -> None:
        self.shown = shown
        self.calls: list[str] = []

    def isendwin(self) -> bool:
        if self.shown is None:
            raise self.error("must call initscr() first")
        return not self.shown

    def endwin(self) -> None:
        self.calls.append("left")

    def doupdate(self) -> None:
        self.calls.append("drawn")


def test_a_screen_is_left_and_drawn_anew_and_may_be_looked_at_between(monkeypatch: pytest.MonkeyPatch) -> None:
    curses = Curses(shown=True)
    monkeypatch.setitem(sys.modules, "_curses", curses)
    with CursesScreen() as screen:
        assert curses.calls == ["left"]
        screen.show()
        screen.hide()
    assert curses.calls == ["left", "drawn", "left", "drawn"]


def test_a_screen_that_is_given_up_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    curses = Curses(shown=True)
    monkeypatch.setitem(sys.modules, "_curses", curses)
    with CursesScreen() as screen:
        screen.give_up()
    assert curses.calls == ["left"]


@pytest.mark.parametrize("shown", [None, False], ids=["never taken", "given back"])
def test_a_program_without_a_screen_is_left_alone(monkeypatch: pytest.MonkeyPatch, shown: bool | None) -> None:
    curses = Curses(shown=shown)
    monkeypatch.setitem(sys.modules, "_curses", curses)
    with CursesScreen() as screen:
        screen.show()
        screen.hide()
    monkeypatch.delitem(sys.modules, "_curses")
    with CursesScreen():
        pass
    assert curses.calls == []


def test_a_handler_of_c_is_there_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Python's `signal` cannot put it back: that of `faulthandler` stands for that of curses."""
    monkeypatch.setitem(sys.modules, "_curses", Curses(shown=True))
    faulthandler.register(signal.SIGWINCH, file=sys.__stderr__, chain=False)
    try:
        with CursesScreen():
            signal.signal(signal.SIGWINCH, lambda number, frame: None)
            signal.signal(signal.SIGWINCH, signal.SIG_DFL)
            assert ends_the_program(signal.SIGWINCH)
        assert not ends_the_program(signal.SIGWINCH)
    finally:
        faulthandler.unregister(signal.SIGWINCH)


def test_another_thread_does_not_touch_it(monkeypatch: pytest.MonkeyPatch) -> None:
    curses = Curses(shown=True)
    monkeypatch.setitem(sys.modules, "_curses", curses)
    seen: list[str] = []

    def stop() -> None:
        with CursesScreen():
            seen.append("within")

    thread = threading.Thread(target=stop)
    thread.start()
    thread.join()
    assert (seen, curses.calls) == (["within"], [])
