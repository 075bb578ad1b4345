"""Who called into TensorFlow, and with what: the innermost call that is neither TensorFlow's nor ours, and others."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.tf.generated_code import written_call
from tfdbg_cli.model.exactness import same_bits
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.sources import Frame, is_library
from tfdbg_cli.process.own_frames import is_own
from tfdbg_cli.process.source_text import text_line

_TENSORFLOW = str(Path(tf.__file__).parent) + os.sep
_COORDINATOR = os.path.join("distribute", "coordinator", "cluster_coordinator.py")  # noqa: PTH118  # an end of paths


def is_tensorflows(file: str) -> bool:
    """Whether code of `file` is TensorFlow's."""
    return file.startswith(_TENSORFLOW)


@cache
def _is_machinery(file: str) -> bool:
    return is_tensorflows(file) or is_own(file)


@cache
def is_users(file: str) -> bool:
    """Whether code of `file` is the user's program, and no installed package's."""
    return not is_library(file)


def frame_at(code: CodeType, line: int | None) -> Frame:
    """A call that is at `line` of `code`, with the text of the line.

    Where a signal handler interrupts what Python itself put into a call, that is at no line: then where it begins.
    """
    if line is None:
        line = code.co_firstlineno
    return Frame(code.co_filename, line, code.co_name, text_line(code.co_filename, line))


def _caller() -> FrameType | None:
    frame: FrameType | None = inspect.currentframe()
    while frame is not None and _is_machinery(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def called_by_user() -> bool:
    """Whether the user's program called into TensorFlow itself, and no other package on its behalf."""
    frame = _caller()
    return frame is not None and is_users(frame.f_code.co_filename)


def called_by_coordinator() -> bool:
    """Whether a tf.distribute.coordinator.ClusterCoordinator makes the call, for a worker of its."""
    frame: FrameType | None = inspect.currentframe()
    while frame is not None and not frame.f_code.co_filename.endswith(_COORDINATOR):
        frame = frame.f_back
    return frame is not None


def caller_line() -> str:
    """The line of the user's program that is being executed: `train.py:12: loss = step(x)`; empty without one."""
    place = users_call()
    return "" if place is None else f"{Path(place.file).name}:{place.line}: {place.text}"


def users_call() -> Frame | None:
    """The innermost call of the user's program, at the line that is being executed; None without one."""
    frame = _caller()
    while frame is not None:
        file, number, function = written_call((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        if is_users(file):
            return Frame(file, number, function, text_line(file, number))
        frame = frame.f_back
    return None


def number_behind(value: Any) -> float | None:
    """The float that a call of TensorFlow under way was given and made the scalar `value` of, an infinity or a NaN.

    None where no call was given one that is the same in the dtype of `value`: it is a tensor of the program's.
    """
    frame: FrameType | None = inspect.currentframe()
    while frame is not None and _is_machinery(frame.f_code.co_filename):
        if is_tensorflows(frame.f_code.co_filename):
            for number in _floats_in(names_in(frame).values()):
                with np.errstate(over="ignore"):
                    made = np.asarray(number).astype(value.dtype)
                if same_bits(made, np.asarray(value)):
                    return number
        frame = frame.f_back
    return None


def _floats_in(given: Iterable[object]) -> Iterator[float]:
    """The floats among what a call was given, also of those that a wrapper hands on."""
    for one in given:
        each = one if isinstance(one, tuple) else one.values() if isinstance(one, dict) else (one,)
        yield from (number for number in each if isinstance(number, float))


def names_in(frame: FrameType) -> dict[str, Any]:
    """The names of a call with what they hold; a copy, but for those of a module."""
    names = frame.f_locals
    if names is frame.f_globals:
        return frame.f_globals
    copied = dict(names)
    # Before Python 3.13 a call keeps what it is asked for here, and all of it alive. Nobody else has it if it has
    # three references: that of the call, ours, and that of who counts.
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED and isinstance(names, dict) and sys.getrefcount(names) <= 3:
        names.clear()
    return copied


def live_frames() -> tuple[LiveFrame, ...]:
    """The calls of this thread from the first one of the program on, outermost first, without ours."""
    found: list[LiveFrame] = []
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        code = frame.f_code
        if not is_own(code.co_filename):
            found.append(LiveFrame(frame_at(code, frame.f_lineno), names_in(frame), frame.f_globals))
        frame = frame.f_back
    while found and not is_users(found[-1].place.file):
        found.pop()
    return tuple(reversed(found))
