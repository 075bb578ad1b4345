"""A register of the debuggers of wrapped sessions, so that the end of the program can ask them what they saw."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence

from tfdbg_cli.debugger.debugger import Debugger

_DEBUGGERS: list[Callable[[], Debugger | None]] = []  # in the order in which the sessions were wrapped


def note_wrapped_session(debugger: Debugger, *, watches: bool) -> None:
    """Note that `debugger` belongs to a session that the program has wrapped.

    With `watches` it began with the watch of the command line, and is kept until the program ends: what it has seen
    counts then. Another goes with its session.
    """
    _DEBUGGERS[:] = [known for known in _DEBUGGERS if known() is not None]
    _DEBUGGERS.append((lambda: debugger) if watches else weakref.ref(debugger))


def wrapped_with_runs() -> Sequence[Debugger]:
    """Those that have made a run, the session wrapped last at the end."""
    known = (debugger() for debugger in _DEBUGGERS)
    return [debugger for debugger in known if debugger is not None and debugger.run_count]
