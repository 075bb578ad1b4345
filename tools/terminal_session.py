"""A program in a pseudo terminal, its screen kept by an emulator: for tests and pictures."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import pexpect
import pyte

_NAMES = {
    "enter": "\r",
    "tab": "\t",
    "shift tab": "\x1b[Z",
    "esc": "\x1b",
    "space": " ",
    "backspace": "\x7f",
    "delete": "\x1b[3~",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "page up": "\x1b[5~",
    "page down": "\x1b[6~",
    "lt": "<",
}

# Synchronized output: the query, its answer, and what stands around a frame.
# https://gist.github.com/christianparpart/d8a62cc1ab659194337d73e399004036
_KNOWS_FRAMES = "\x1b[?2026$p"
_FRAMES_ARE_OFF = "\x1b[?2026;2$y"
_BEGIN_OF_FRAME = "\x1b[?2026h"
_END_OF_FRAME = "\x1b[?2026l"


def split_keys(text: str) -> list[str]:
    """`lt<enter>jj<ctrl p>` as what a keyboard sends, key by key. `<lt>` is a literal `<`."""
    return [_bytes_of(name[1:-1]) if name.startswith("<") else name for name in re.findall(r"<[^<>]+>|.", text, re.S)]


def _bytes_of(name: str) -> str:
    if name in _NAMES:
        return _NAMES[name]
    modifier, _, key = name.partition(" ")
    if modifier == "ctrl" and len(key) == 1:
        return chr(ord(key.upper()) ^ 0x40)
    if modifier == "meta" and key:
        return "\x1b" + _NAMES.get(key, key)
    raise ValueError(f"no key <{name}>")


def _whole_frames(text: str) -> tuple[str, str]:
    """`text` up to the frame whose end it does not hold, and the rest."""
    ended = text.rfind(_END_OF_FRAME) + 1
    begun = text.find(_BEGIN_OF_FRAME, ended)
    if begun < 0:  # the sequence that begins one may be cut
        cut = (len(text) - size for size in range(1, len(_BEGIN_OF_FRAME)) if text.endswith(_BEGIN_OF_FRAME[:size]))
        begun = next(cut, len(text))
    return text[:begun], text[begun:]


class _Screen(pyte.Screen):
    """pyte's screen with the alternate one, which programs that fill the screen switch to."""

    def __init__(self, cols: int, rows: int) -> None:
        self.alternate = False
        super().__init__(cols, rows)

    def set_mode(self, *modes: int, **kwargs: bool) -> None:
        if 1049 in modes and kwargs.get("private"):
            self.alternate = True
            self._kept = {row: dict(cells) for row, cells in self.buffer.items()}
            self._cursor = (self.cursor.x, self.cursor.y)
            self.erase_in_display(2)
        super().set_mode(*modes, **kwargs)

    def reset_mode(self, *modes: int, **kwargs: bool) -> None:
        if 1049 in modes and kwargs.get("private") and self.alternate:
            self.alternate = False
            self.erase_in_display(2)
            for row, cells in self._kept.items():
                self.buffer[row].update(cells)
            self.cursor.x, self.cursor.y = self._cursor
        super().reset_mode(*modes, **kwargs)


class TerminalSession:
    """`command` running in a terminal of `cols` by `rows`; `raw` is all it wrote.

    The terminal knows synchronized output (mode 2026), as kitty, iTerm2, WezTerm and Windows Terminal do: `screen`
    shows a frame when all of it has come, and never the upper half of one above the lower half of another.
    """

    spawn: type[pexpect.spawn] = pexpect.spawn

    def __init__(
        self, command: Sequence[str], cols: int = 80, rows: int = 24, env: dict[str, str] | None = None
    ) -> None:
        outside = {name: text for name, text in os.environ.items() if name != "COLORTERM"}
        environment = {**outside, "TERM": "xterm-256color", "LANG": "C.UTF-8", **(env or {})}
        self.screen = _Screen(cols, rows)
        self.raw = ""
        self._begun = ""  # of a frame whose end has not come
        self._stream = pyte.Stream(self.screen)
        self.child = self.spawn(
            command[0], list(command[1:]), dimensions=(rows, cols), env=environment, encoding="utf-8", timeout=30
        )
        self.child.delaybeforesend = None

    def pump(self, seconds: float) -> bool:
        """Read what comes within `seconds`; False when nothing came or the program ended."""
        try:
            text = self.child.read_nonblocking(65536, seconds)
        except pexpect.TIMEOUT:
            return False
        except pexpect.EOF:
            self._stream.feed(self._begun)
            self._begun = ""
            return False
        asked = self.raw[-len(_KNOWS_FRAMES) + 1 :] + text
        self.raw += text
        if _KNOWS_FRAMES in asked:
            with suppress(OSError):  # the program has ended since
                self.child.send(_FRAMES_ARE_OFF)
        whole, self._begun = _whole_frames(self._begun + text)
        # pyte prints the answers and queries that it does not know (DECRQM) as text.
        self._stream.feed(re.sub(r"\x1b\[\?[\d;]*\$p", "", whole))
        return True

    def text(self) -> str:
        """The screen, blanks at line ends taken off."""
        return "\n".join(row.rstrip() for row in self.screen.display)

    def send(self, keys: str) -> None:
        """Press keys, written as for `split_keys`."""
        for key in split_keys(keys):
            self.child.send(key)

    def wait(self, condition: str | Callable[[], bool], seconds: float = 120.0) -> None:
        """Read until the screen shows the text, or the condition holds; AssertionError with the screen if never."""
        end = time.monotonic() + seconds
        holds = condition if callable(condition) else lambda: condition in self.text()
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"never saw {condition!r}; the screen is\n{self.text()}")
            if not self.pump(0.05) and not self.child.isalive() and not self.pump(0.05) and not holds():
                raise AssertionError(f"ended before {condition!r}; the screen is\n{self.text()}")

    def settle(self, quiet: float = 0.3, seconds: float = 120.0) -> None:
        """Read until nothing came for `quiet` seconds."""
        end = time.monotonic() + seconds
        while self.pump(quiet) and time.monotonic() < end:
            pass

    def resize(self, cols: int, rows: int) -> None:
        """Make the terminal another size."""
        self.screen.resize(rows, cols)
        self.child.setwinsize(rows, cols)

    def finish(self, seconds: float = 120.0) -> int:
        """Read to the end of the program; its exit code, negative for a signal."""
        end = time.monotonic() + seconds
        while self.child.isalive() and time.monotonic() < end:
            self.pump(0.1)
        while self.pump(0.1):
            pass
        self.child.ptyproc.delayafterclose = 0  # which is for a program that still has to end
        self.child.close(force=True)
        return -self.child.signalstatus if self.child.signalstatus is not None else int(self.child.exitstatus or 0)
