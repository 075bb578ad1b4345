"""Reading what a user names on the command line: Ctrl-C ends it, whatever the file system does."""

from __future__ import annotations

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
