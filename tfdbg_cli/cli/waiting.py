"""Waiting for what a user asks on the command line: Ctrl-C ends it, whatever the file system does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from tfdbg_cli.plain_text import safe
from tfdbg_cli.process.streams import to_stderr

_SILENT = 10.0  # seconds before anything is said

T = TypeVar("T")


def waited_for(path: str, read: Callable[[], T]) -> T:
    """Call `read`, which reads `path`, and return or raise what it does; if that takes long, say so."""
    from tfdbg_cli.formats.recording.waiting import answer

    return answer(read, lambda: to_stderr(f"Still reading {safe(path)}. Ctrl-C ends."), _SILENT)


def told_while(doing: str, work: Callable[[Callable[[float], None]], T]) -> T:
    """Call `work`, and return or raise what it does; it is given what takes the share that it has done, from 0 to 1.

    Standard error hears how far it is, if that takes long: a terminal by a line that is gone when it is done,
    anything else by a sentence. `doing` says what goes on, in a word or two.
    """
    from tfdbg_cli.terminal_facts import is_tty

    if is_tty(sys.stderr):
        from tfdbg_cli.line.busy_line import BusyLine

        with BusyLine(sys.stderr, doing, end="ends") as busy:
            return work(busy.tell)
    from tfdbg_cli.formats.recording.waiting import answer

    return answer(lambda: work(lambda share: None), lambda: to_stderr(f"Still {safe(doing)}. Ctrl-C ends."), _SILENT)
