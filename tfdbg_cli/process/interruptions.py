"""What the program's signal handlers do amid our code, such as to raise: they run wherever the main thread is.

A handler that raises (a time limit, a request to save and stop) does so in whatever runs at that moment. Where that
is ours, the exception is the program's all the same, and passes through what keeps errors of ours away from it.
"""

from __future__ import annotations

import opcode
import sys
from itertools import pairwise
from types import FrameType, TracebackType
from typing import NoReturn

_VARARGS = 0x04  # the flag of code that takes `*arguments`
_RAISE = opcode.opmap["RAISE_VARARGS"]
_OPTIMIZED = 0x01  # that of a function, whose names are not kept in a dictionary


def our_errors(*kinds: type[Exception]) -> tuple[type[Exception], ...]:
    """What to catch where no error of ours may end the program: those of `kinds`, or every Exception.

    Not one that a signal handler of the program's raised, which is left to it. To be called as what an `except`
    names, which Python evaluates while the exception is being handled.

    Raises what such a handler raised, where the exception that is being handled came of that: native code that calls
    Python may make another one of it.
    """
    error = sys.exc_info()[1]
    if isinstance(error, Exception):
        found = interruption_behind(error)
        if found is error:
            return ()
        if found is not None:
            _raise_as_it_was(found)
    return kinds or (Exception,)


class _OurErrorsSuppressed:
    """A context that ends without an error of ours; see `our_errors`."""

    __slots__ = ()

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        found = interruption_behind(error)
        if found is not None and found is not error:
            _raise_as_it_was(found)
        return found is None


OUR_ERRORS_SUPPRESSED = _OurErrorsSuppressed()


def interruption_behind(error: Exception) -> BaseException | None:
    """What a signal handler raised that came to whoever asks as `error`, which is being handled; None: it is no such.

    That is `error` itself, or what was caught on the way and `error` raised for it, or what native code has lost.
    """
    if is_interruption(error):
        return error
    around: set[FrameType] | None = None
    met = {id(error)}
    at: BaseException = error
    while True:
        if type(at) is RuntimeError and (lost := _lost_in(at)) is not None:
            return lost
        behind = at.__cause__ or at.__context__
        if behind is None or id(behind) in met:
            return None
        met.add(id(behind))
        at = behind
        around = _frames_around() if around is None else around
        # What the program handles already is the context of each error that comes up meanwhile.
        if at.__traceback__ is not None and at.__traceback__.tb_frame in around:
            return None
        if isinstance(at, KeyboardInterrupt) or is_interruption(at):
            return at


def _lost_in(error: RuntimeError) -> BaseException | None:
    from tfdbg_cli.process.lost_exception import regained  # most that tfdbg does goes without

    return regained(error)


def _frames_around() -> set[FrameType]:
    """The frames that call, however indirectly, the one that asks this module about an exception."""
    frame: FrameType | None = sys._getframe()
    this = frame.f_code.co_filename if frame is not None else ""
    while frame is not None and frame.f_code.co_filename == this:
        frame = frame.f_back
    around = set[FrameType]()
    while frame is not None and (frame := frame.f_back) is not None:
        around.add(frame)
    return around


def _raise_as_it_was(interruption: BaseException) -> NoReturn:
    context = interruption.__context__
    try:
        raise interruption
    finally:
        interruption.__context__ = context  # Python puts there what came of it on the way


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


def is_of_a_statement(error: BaseException) -> bool:
    """Whether a `raise` of Python code raised `error`: what Ctrl-C raises comes amid anything else."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_code[trace.tb_lasti] == _RAISE


def in_signal_handler() -> bool:
    """Whether what calls this was called, however indirectly, by a signal handler of the program's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        given = _arguments(frame)
        if any(type(number) is int and of is frame.f_back for number, of in pairwise(given)):
            return True
        frame = frame.f_back
    return False


def _is_given_its_caller(frame: FrameType) -> bool:
    """Whether one of the arguments of `frame` is the frame that called it."""
    caller = frame.f_back
    return caller is not None and any(argument is caller for argument in _arguments(frame))


def _arguments(frame: FrameType) -> list[object]:
    """What the arguments of the function of `frame` are now; those of `*arguments` one by one."""
    code = frame.f_code
    count = code.co_argcount
    rest = count + code.co_kwonlyargcount
    if not count and not code.co_flags & _VARARGS:
        return []  # it is given nothing; `f_locals`, which Python makes when it is asked for, is not needed
    names = code.co_varnames
    values = frame.f_locals
    many = values.get(names[rest], ()) if code.co_flags & _VARARGS else ()
    found = [*(values.get(name) for name in names[:count]), *(many if isinstance(many, tuple) else ())]
    # Before Python 3.13 a call keeps what it is asked for here, and all of it alive. Nobody else has it if it has
    # three references: that of the call, ours, and that of who counts.
    if code.co_flags & _OPTIMIZED and isinstance(values, dict) and sys.getrefcount(values) <= 3:
        values.clear()
    return found
