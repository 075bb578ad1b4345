"""What goes on between two keys, and in which order: the frame of a key first, what is in sight in a pause."""

from __future__ import annotations

import os
import pty
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from support.slow_screen import Slow

from tfdbg_cli.tui import between_keys
from tfdbg_cli.tui.state.pending import PendingAnswer
from tfdbg_cli.tui.terminal.spool import Spool
from tfdbg_cli.tui.terminal.terminal import TtyScreen


class _Noted:
    """A loop that notes in how many seconds something is to go on, and does it when it is told to."""

    def __init__(self) -> None:
        self.screen = SimpleNamespace(started=True)
        self.alarms: list[tuple[float, Callable[[Any, Any], None]]] = []
        self.frames = 0

    def set_alarm_in(self, seconds: float, callback: Callable[[Any, Any], None]) -> object:
        self.alarms.append((seconds, callback))
        return self.alarms[-1]

    def remove_alarm(self, alarm: Any) -> bool:
        self.alarms.remove(alarm)
        return True

    def draw_screen(self) -> None:
        self.frames += 1

    def ring(self) -> float:
        """Do what is due next; in how many seconds it was."""
        seconds, callback = self.alarms.pop(0)
        callback(self, None)
        return seconds


class _Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


def _screen() -> tuple[Slow, _Noted]:
    screen = Slow("lt", size=(200, 60))  # with the preview of what is chosen
    loop = _Noted()
    screen.app.loop = loop  # type: ignore[assignment]
    screen.app._between_keys._alarm = None
    return screen, loop


def test_the_frame_of_a_key_comes_first_and_what_is_in_sight_in_a_pause() -> None:
    clock = _Clock()
    with patch.object(between_keys, "time", clock):
        screen, loop = _screen()
        screen.press("j")
        assert [seconds for seconds, _ in loop.alarms] == [0.0] and loop.frames == 0
        assert loop.ring() == 0.0 and loop.frames == 1
        assert screen.app.view.running
        assert [seconds for seconds, _ in loop.alarms] == pytest.approx([between_keys._PAUSE])
        clock.now += 0.03
        screen.press("j")  # the pause begins anew, behind a frame
        assert loop.ring() == 0.0 and loop.frames == 2
        assert [seconds for seconds, _ in loop.alarms] == pytest.approx([between_keys._PAUSE])


def test_the_frame_of_ctrl_c_comes_first_as_that_of_any_key() -> None:
    clock = _Clock()
    with patch.object(between_keys, "time", clock):
        screen, loop = _screen()
        screen.press("j")
        loop.ring()
        assert screen.app.view.running
        clock.now += between_keys._PAUSE
        screen.app._woken(b"c")
        assert [seconds for seconds, _ in loop.alarms if seconds < 1] == [0.0]
        while loop.alarms[0][0]:
            loop.alarms.append(loop.alarms.pop(0))  # what takes the message away comes much later
        assert loop.ring() == 0.0 and loop.frames == 2


def test_what_was_asked_for_goes_on_though_a_key_is_held_down() -> None:
    clock = _Clock()
    with patch.object(between_keys, "time", clock):
        screen, loop = _screen()
        screen.press("w")
        turns = 0
        while screen.state.pending is not None:
            screen.press("j")
            loop.ring()  # the frame of the key
            clock.now += 0.03
            if screen.state.pending is not None:
                loop.ring()  # work, before the next key
            turns += 1
            assert turns < 1000
        assert screen.state.page.command == "lt -s worst"


def test_of_many_rows_that_lack_something_few_are_begun_before_the_frame() -> None:
    clock = _Clock()
    with patch.object(between_keys, "time", clock):
        screen, _ = _screen()
        given: list[Callable[[], bool]] = []
        with patch.object(screen.app.view, "work", given.append):
            for lacking in (1, 8, 80):
                with patch.object(screen.state.page.late, "lacking", lambda lacking=lacking: [()] * lacking):
                    screen.app._between_keys.count_in_sight(0.008)
        ends = []
        for milliseconds in (0.9, 7.9, 8.1):
            clock.now = 100.0 + milliseconds / 1000
            ends.append([enough() for enough in given])
        assert ends == [[False, False, True], [False, False, True], [True, True, True]]


def test_work_goes_on_from_slice_to_slice_until_a_key_comes_or_others_have_waited_for_a_turn() -> None:
    clock = _Clock()
    with patch.object(between_keys, "time", clock):
        screen, loop = _screen()
        ends: list[float] = []

        def work(enough: Callable[[], bool]) -> None:
            while not enough():
                clock.now += 0.001
            ends.append(clock.now - begun)

        for tells, key_at in ((True, 9), (True, 4), (False, 9)):
            loop.screen = SimpleNamespace(started=True)
            begun = clock.now
            if tells:
                loop.screen.key_came = lambda key_at=key_at: clock.now - begun >= key_at / 1000  # noqa: B023
            with patch.object(screen.app._between_keys, "_tasks", lambda: iter([work])):
                screen.app._between_keys._unseen = False
                screen.app._between_keys._look_on(loop, None)
        assert ends == pytest.approx([0.008, 0.004, 0.001])


@pytest.mark.parametrize(("tells", "frames"), [(True, 10), (False, 0)])
def test_a_frame_in_the_middle_of_an_answer_is_drawn_where_it_tells_more_than_the_one_before(
    tells: bool, frames: int
) -> None:
    clock = _Clock()
    with patch.object(between_keys, "time", clock):
        screen, loop = _screen()

        def steps() -> Iterator[float | None]:
            for number in range(10):
                clock.now += 0.06
                yield number / 10 if tells else None

        drawn: list[int] = []
        screen.state.pending = PendingAnswer("lt -s op_type", steps(), lambda: drawn.append(loop.frames))
        screen.app.go_on()
        loop.ring()
        before = loop.frames  # the last key's is among them
        while not drawn:
            loop.ring()
    assert drawn == [before + frames]


def test_a_terminal_tells_whether_a_key_came() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "rb", buffering=0) as given, os.fdopen(os.dup(theirs), "w") as shown:
        screen = TtyScreen(given, shown, Spool(), own_signals=False)
        screen.start()
        try:
            came = [screen.key_came()]
            os.write(ours, b"j")
            came.append(screen.key_came())
            came += [bool(screen.get_input(raw_keys=False)), screen.key_came()]
            screen.interrupt()
            came.append(screen.key_came())
        finally:
            screen.close()
            os.close(ours)
    assert came == [False, True, True, False, True]
