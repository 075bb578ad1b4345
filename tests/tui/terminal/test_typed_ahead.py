"""Keys pressed before the screen that is to get them, on a pseudo terminal."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
import urwid

from tfdbg_cli.model.decision import Abort, Continue, Decision, RunTo, RunUntil, StepOn
from tfdbg_cli.model.pausing import Pace, Place
from tfdbg_cli.tui.terminal.spool import Spool
from tfdbg_cli.tui.terminal.terminal import TtyScreen
from tfdbg_cli.tui.terminal.typed_ahead import LOST, TypedAhead

END = "r"
STEP = StepOn(Pace.OP)


class _Screen(TtyScreen):
    def get_cols_rows(self) -> tuple[int, int]:
        return 80, 24


@dataclass
class _Desk:
    """A person at a terminal: what they press, and screens that come one after another."""

    person: int
    terminal: int
    ahead: TypedAhead = field(default_factory=TypedAhead)
    notes: tuple[str, ...] = ()

    def press(self, keys: str) -> None:
        os.write(self.person, keys.encode())

    def screen(self, decision: Decision, *, late: str = "") -> str:
        """What a screen is told that `END` ends with `decision`; `late` is pressed once it stands there."""
        told: list[str] = []

        class Keys(urwid.SolidFill):
            def keypress(self, size: object, key: str) -> None:
                if key == END:
                    raise urwid.ExitMainLoop
                told.append(key)

            def selectable(self) -> bool:
                return True

        with open(self.terminal, "rb", buffering=0, closefd=False) as given, open(os.devnull, "w") as shown:
            screen = _Screen(given, shown, Spool(), own_signals=False, ahead=self.ahead)
            loop = urwid.MainLoop(Keys(), screen=screen)
            loop.set_alarm_in(0, lambda *_: self.press(late))
            loop.run()
            self.notes = screen.notes
            screen.close()
        self.ahead.decided(decision)
        return "".join(told)


@pytest.fixture
def desk() -> Iterator[_Desk]:
    """A person at a pseudo terminal."""
    person, terminal = pty.openpty()
    yield _Desk(person, terminal)
    os.close(person)
    os.close(terminal)


def test_keys_behind_the_one_that_steps_go_to_the_next_screens(desk: _Desk) -> None:
    assert desk.screen(STEP, late="abrcdrer") == "ab"
    assert desk.screen(STEP) == "cd"
    assert desk.screen(STEP) == "e"
    assert not desk.ahead.waits


def test_keys_pressed_while_the_program_runs_to_the_next_stop_are_acted_on(desk: _Desk) -> None:
    desk.screen(RunTo(Place("Log")), late=f"x{END}y")
    desk.press(f"z{END}")
    assert desk.screen(STEP) == "yz"
    assert desk.notes == ()


@pytest.mark.parametrize("decision", [Continue(), RunUntil("has_inf_or_nan"), Abort()])
def test_a_stop_that_comes_in_its_own_time_takes_none_and_says_so(desk: _Desk, decision: Decision) -> None:
    desk.screen(decision, late=f"{END}gone")
    desk.press("\n")
    assert desk.screen(STEP, late=f"x{END}") == "x"
    assert desk.notes == (LOST,)


def test_what_the_terminal_itself_answers_is_no_key(desk: _Desk) -> None:
    desk.press("\x1b[?2026;2$y\x1b[?62;22c")
    assert desk.screen(STEP, late=f"x{END}") == "x"
    assert desk.notes == ()


def test_where_the_terminal_says_its_cursor_is_is_no_key(desk: _Desk) -> None:
    """A blind test: such an answer, which another program had asked for, ended the debugger with a TypeError."""
    assert desk.screen(STEP, late=f"x\x1b[12;40Ry\x1b[2;1R{END}") == "xy"


def test_the_terminal_is_as_it_was_behind_each_screen(desk: _Desk) -> None:
    before = termios.tcgetattr(desk.terminal)
    desk.screen(STEP, late=f"{END}a")
    assert termios.tcgetattr(desk.terminal) == before
    desk.screen(STEP, late=END)
    assert termios.tcgetattr(desk.terminal) == before


def test_one_key_is_taken_out_of_those_that_wait_and_nothing_new_is_told_as_such() -> None:
    given, typed = os.pipe()
    ahead = TypedAhead()
    try:
        os.write(typed, b"a\x03b\x03")
        assert ahead.add_waiting(given) and not ahead.add_waiting(given)
        assert ahead.take(3) and not ahead.take(3)
        assert ahead.taken_codes() == list(b"ab")
    finally:
        os.close(given)
        os.close(typed)
