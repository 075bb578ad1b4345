"""The end of the program, which is not that of its main module: threads and `atexit` handlers go on behind that.

Python joins the threads that are no daemons, and calls what was registered with `atexit`, the latest first. What is
to be done when nothing of the program runs any more has to be registered before that, and so before it is needed.
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from tfdbg_cli.process.interruptions import OUR_ERRORS_SUPPRESSED

_awaited: list[Callable[[], object]] = []
_interrupted = False  # whether a KeyboardInterrupt ended the main module
_stands = False  # whether `_end` is among the handlers, as it is in processes that are forked then


def stand_behind_handlers() -> None:
    """Have what `at_the_end` is given called behind all that is registered with `atexit` from now on."""
    global _stands
    if not _stands:
        _stands = True
        atexit.register(_end)


def at_the_end(function: Callable[[], object]) -> None:
    """Have `function` called when the program has ended, before those that were given earlier.

    That is behind the handlers which were registered after the first call of this or of `stand_behind_handlers`.
    """
    stand_behind_handlers()
    _awaited.append(function)


def not_at_the_end(function: Callable[[], object]) -> None:
    """Do not call `function` at the end, however often it was given."""
    _awaited[:] = [one for one in _awaited if one != function]


def interrupted() -> None:
    """Note that a KeyboardInterrupt ended the main module: the process is to die of SIGINT, as it does without us.

    Python notes that itself as the exception leaves the module, and forgets it with the next text that is executed,
    such as that of a dataclass in a module of ours that is loaded at the end.
    """
    global _interrupted
    _interrupted = True


def end_now() -> None:
    """Wait for the threads and call the handlers of a program, as Python would next; then nothing of it is left.

    To be called behind its main module where the exit code depends on them: Python asks for that before.
    """
    # Python has whatever a handler raises written to standard error, as it has what interrupts the wait.
    atexit.register(threading._shutdown)  # type: ignore[attr-defined]
    atexit._run_exitfuncs()


def _is_ended_by_interrupt() -> bool:
    """Whether Python has shown a KeyboardInterrupt as that which ended the main module of a script.

    At an interactive prompt one ends a line only, as it does where a program has such a prompt of its own.
    """
    trace = getattr(sys, "last_traceback", None)
    if getattr(sys, "last_type", None) is not KeyboardInterrupt or trace is None or trace.tb_frame.f_back is not None:
        return False
    return not (hasattr(sys, "ps1") or sys.flags.interactive)


def _end() -> None:
    while _awaited:
        with OUR_ERRORS_SUPPRESSED, suppress(KeyboardInterrupt):
            _awaited.pop()()
    if _interrupted or _is_ended_by_interrupt():
        with suppress(KeyboardInterrupt):
            exec("raise KeyboardInterrupt")  # what leaves a text so is noted, too
