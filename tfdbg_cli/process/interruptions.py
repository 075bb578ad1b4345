"""Exceptions of the program's that come up amid our code: its signal handlers run wherever the main thread is.

A handler that raises (a time limit, a request to save and stop) does so in whatever runs at that moment. Where that
is ours, the exception is the program's all the same, and passes through what keeps errors of ours away from it.
"""

from __future__ import annotations

import sys
from types import FrameType, TracebackType

_VARARGS = 0x04  # the flag of code that takes `*arguments`


def our_errors() -> tuple[type[Exception], ...]:
    """What to catch where no error of ours may end the program.

    That is every Exception, except one that a signal handler of the program's raised, which is left to it. To be
    called as what an `except` names, which Python evaluates while the exception is being handled.
    """
    error = sys.exc_info()[1]
    return () if error is not None and is_interruption(error) else (Exception,)


class _OurErrorsSuppressed:
    """A context that ends without an error of ours; see `our_errors`."""

    __slots__ = ()

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return isinstance(error, Exception) and not is_interruption(error)


OUR_ERRORS_SUPPRESSED = _OurErrorsSuppressed()


def is_interruption(error: BaseException) -> bool:
    """Whether `error` was raised by a signal handler (or a trace function).

    Python gives both the frame that they interrupt, which called theirs as far as Python can tell. Nothing else is
    given the frame that calls it. That frame itself may be gone from the traceback: TensorFlow takes out its own.

    `signal.getsignal` would not tell: many a handler puts the default one in its place before it raises, and one that
    is an object or a partial function has no code of its own in the traceback.
    """
    trace = error.__traceback__
    while trace is not None:
        if _is_given_its_caller(trace.tb_frame):
            return True
        trace = trace.tb_next
    return False


def _is_given_its_caller(frame: FrameType) -> bool:
    """Whether one of the arguments of `frame` is the frame that called it."""
    caller = frame.f_back
    if caller is None:
        return False
    code = frame.f_code
    count = code.co_argcount
    rest = count + code.co_kwonlyargcount
    if not count and not code.co_flags & _VARARGS:
        return False  # it is given nothing; `f_locals`, which Python makes when it is asked for, is not needed
    names = code.co_varnames
    values = frame.f_locals
    many = values.get(names[rest], ()) if code.co_flags & _VARARGS else ()
    arguments = [*(values.get(name) for name in names[:count]), *(many if isinstance(many, tuple) else ())]
    return any(argument is caller for argument in arguments)
