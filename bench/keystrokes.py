"""A program in a terminal as a person at its keyboard meets it: a key, and the time until its frame is there."""

from __future__ import annotations

import math
import os
import random
import re
import select
import signal
import time
from collections.abc import Callable, Sequence

import pexpect

from bench.goals import Wait, measured

_ASKED = "\x1b[?2026$p"  # whether the terminal shows frames whole
_YES = "\x1b[?2026;2$y"
_FRAME_ENDS = "\x1b[?2026l"
_CODES = re.compile(r"\x1b\][^\x07]*\x07|\x1b\[[0-9;?<>=$ ]*[@-~]|\x1b[()][A-Z0-9]|\x1b[=>78]|[\x0e\x0f]")
_USED_BY_PROCESS = 2  # of the clocks that Linux keeps for each process, the one that clock_getcpuclockid gives
_PATIENCE = 60.0  # seconds; what takes longer does not come


class Keyboard:
    """`command` in a terminal of `cols` by `rows` that takes frames whole, as terminals of today do."""

    def __init__(self, command: Sequence[str], cols: int, rows: int) -> None:
        environment = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self._child = pexpect.spawn(
            command[0], list(command[1:]), dimensions=(rows, cols), env=environment, timeout=_PATIENCE
        )
        self._child.delaybeforesend = None
        self._text = ""  # what came behind the last whole frame
        self._chance = random.Random(0)
        self.frame = ""  # what the last frame changed, without codes

    def wait(self, shown: Callable[[str], object]) -> None:
        """Read until a frame is there that changes something to what is `shown`.

        Raises:
            AssertionError: there never was one.

        """
        end = time.perf_counter() + _PATIENCE
        while not (self._next(end) and shown(self.frame)):
            assert time.perf_counter() < end, f"such a frame never came; the last one was\n{self.frame}"

    def waited(self, keys: str, shown: Callable[[str], object]) -> Wait:
        """Press keys at any moment of what the program does, and the time until a frame has what is `shown`."""

        def answer() -> None:
            self.send(keys)
            self.wait(shown)

        self.idle(0.005 + 0.03 * self._chance.random())
        return measured(self._clock, answer)

    def idle(self, seconds: float) -> None:
        """Press nothing for a while."""
        end = time.perf_counter() + seconds
        while self._next(end):
            pass

    def send(self, keys: str) -> None:
        """Press keys, as a keyboard sends them."""
        os.write(self._child.child_fd, keys.encode())

    def close(self) -> None:
        """End the program, which has nothing to save and would take its time to give its memory back."""
        self._child.kill(signal.SIGKILL)
        self._child.wait()

    def _clock(self) -> tuple[float, float]:
        """The time now, and how long the program has had a processor so far."""
        try:
            return time.perf_counter(), time.clock_gettime((~self._child.pid << 3) | _USED_BY_PROCESS)
        except OSError:  # the clocks of other processes are Linux' own
            return time.perf_counter(), math.nan

    def _next(self, end: float) -> bool:
        """Read the next whole frame; False where none came until `end`."""
        while _FRAME_ENDS not in self._text:
            left = end - time.perf_counter()
            if left <= 0 or not select.select([self._child.child_fd], [], [], left)[0]:
                return False
            came = os.read(self._child.child_fd, 1 << 16).decode("utf-8", "replace")
            if _ASKED in came:
                self.send(_YES)
            self._text += came
        frame, self._text = self._text.split(_FRAME_ENDS, 1)
        self.frame = _CODES.sub("", frame)
        return True
