"""Tells who called into TensorFlow: the innermost frame that is neither TensorFlow's nor ours."""

from __future__ import annotations

import inspect
import os
from functools import cache
from linecache import getline
from pathlib import Path
from types import CodeType, FrameType

import tensorflow as tf

from tfdbg_cli.model.sources import Frame, is_library

_OURS = str(Path(__file__).parent.parent) + os.sep
_EXAMPLES = _OURS + "examples" + os.sep
_TENSORFLOW = str(Path(tf.__file__).parent) + os.sep


@cache
def is_ours(file: str) -> bool:
    """Whether code of `file` is tfdbg's, and no program's."""
    return file.startswith(_OURS) and not file.startswith(_EXAMPLES)


@cache
def _is_machinery(file: str) -> bool:
    return file.startswith(_TENSORFLOW) or is_ours(file)


@cache
def is_users(file: str) -> bool:
    """Whether code of `file` is the user's program, and no installed package's."""
    return not is_library(file)


def frame_at(code: CodeType, line: int) -> Frame:
    """A call that is at `line` of `code`, with the text of the line."""
    return Frame(code.co_filename, line, code.co_name, getline(code.co_filename, line).strip())


def _caller() -> FrameType | None:
    frame: FrameType | None = inspect.currentframe()
    while frame is not None and _is_machinery(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def called_by_user() -> bool:
    """Whether the user's program called into TensorFlow itself, and no other package on its behalf."""
    frame = _caller()
    return frame is not None and is_users(frame.f_code.co_filename)


def caller_line() -> str:
    """The line of the user's program that is being executed: `train.py:12: loss = step(x)`; empty without one."""
    frame = _caller()
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return ""
    file = frame.f_code.co_filename
    return f"{Path(file).name}:{frame.f_lineno}: {getline(file, frame.f_lineno).strip()}"
