"""The debuggers of the sessions that a program wraps itself, as long as they live."""

from __future__ import annotations

import weakref

from tfdbg_cli.debugger.debugger import Debugger

_DEBUGGERS: list[weakref.ref[Debugger]] = []  # in the order in which the sessions were wrapped


def note_wrapped_session(debugger: Debugger) -> None:
    """Note that `debugger` belongs to a session that the program has wrapped."""
    _DEBUGGERS[:] = [known for known in _DEBUGGERS if known() is not None]
    _DEBUGGERS.append(weakref.ref(debugger))


def latest_with_runs() -> Debugger | None:
    """The debugger of the session wrapped last of those that made a run; None where there is none."""
    known = (debugger() for debugger in reversed(_DEBUGGERS))
    return next((debugger for debugger in known if debugger is not None and debugger.run_count), None)
