"""Keys that were pressed before the screen that is to get them: they wait for it, or are said to be lost."""

from __future__ import annotations

import os
import re
import select
import termios
import tty
from collections.abc import Sequence
from contextlib import suppress

from tfdbg_cli.model.decision import DebugRun, Decision, PlainRun, ProfileRun, RecordRun, RunTo, StepOn

_AT_ONCE = 4096  # bytes that are read of a terminal at a time
_REPLY = re.compile(rb"\x1b\[[?>][\d;]*\$?[a-zA-Z]")  # what a terminal answers to the questions of a screen
LOST = "Keys pressed before this screen was there do nothing here."


class TypedAhead:
    """The keys that wait for the next screen on one terminal.

    They are `wanted` where a user asked to be brought to the very next stop: a hand that steps is ahead of the
    program. A stop that comes in its own time takes none: whoever pressed Enter at a silent terminal did not mean to
    follow the first link of a screen that was not there.
    """

    def __init__(self) -> None:
        self.wanted = False
        self._keys: list[str] = []  # as urwid calls them
        self._codes: list[int] = []  # bytes that nobody has made keys of yet

    def decided(self, decision: Decision) -> None:
        """A screen was left by `decision`."""
        self.wanted = isinstance(decision, DebugRun | PlainRun | ProfileRun | RecordRun | RunTo | StepOn)
        if not self.wanted:
            self.drop()

    def drop(self) -> None:
        """Forget what waits: it was meant for somebody else."""
        self._keys, self._codes = [], []

    def add_keys(self, keys: Sequence[object]) -> None:
        """Keep keys; clicks at places of another screen are none."""
        self._keys += [key for key in keys if isinstance(key, str)]

    def add_waiting(self, descriptor: int) -> bool:
        """Keep what waits to be read of the terminal, whose driver gives single keys now; whether there was any."""
        before = len(self._codes)
        with suppress(OSError):  # the terminal is gone, and with it who pressed keys
            while select.select([descriptor], (), (), 0)[0]:
                read = os.read(descriptor, _AT_ONCE)
                if not read:
                    break
                self._codes += read
        return len(self._codes) > before

    def begin(self, descriptor: int) -> str:
        """Take what was pressed while there was no screen; gives what there is to say of keys that are lost."""
        with suppress(termios.error):  # no terminal: a pipe, which is read as it is
            before = termios.tcgetattr(descriptor)
            tty.setcbreak(descriptor, termios.TCSADRAIN)  # urwid throws away what waits, so it is read before
            self.add_waiting(descriptor)
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        if self.wanted:
            return ""
        pressed = _REPLY.sub(b"", bytes(self._codes))
        self.drop()
        return LOST if pressed else ""

    def taken_keys(self) -> list[str]:
        """The keys that wait, in their order; they wait no more."""
        keys, self._keys = self._keys, []
        return keys

    def taken_codes(self) -> list[int]:
        """The bytes behind those keys."""
        codes, self._codes = self._codes, []
        return codes

    def take(self, code: int) -> bool:
        """Whether that byte is among those that wait; all of its kind wait no more."""
        found = code in self._codes
        self._codes = [one for one in self._codes if one != code]
        return found

    @property
    def waits(self) -> bool:
        """Whether anything was pressed that no screen has taken yet."""
        return bool(self._keys or self._codes)
