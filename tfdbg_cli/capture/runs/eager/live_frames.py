"""The calls that are running in this thread, and the names by which the program knows tensors and variables."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.runs.eager.recent import Source
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.callers import frame_at, is_ours, is_users
from tfdbg_cli.capture.tf.compat import EagerTensor
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.values import Array

_MOST_NAMES = 5_000
_TRACKING = "_self_"  # how attributes begin in which TensorFlow notes the program's own once more
_DEEPEST = 3  # of lists in lists, attributes of attributes


def live_frames() -> tuple[LiveFrame, ...]:
    """The calls of this thread from the first one of the program on, outermost first, without ours."""
    found: list[LiveFrame] = []
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        code = frame.f_code
        if not is_ours(code.co_filename):
            found.append(LiveFrame(frame_at(code, frame.f_lineno), _names(frame), frame.f_globals))
        frame = frame.f_back
    while found and not is_users(found[-1].place.file):
        found.pop()
    return tuple(reversed(found))


def _names(frame: FrameType) -> dict[str, Any]:
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


def names_of_tensors(frames: Sequence[LiveFrame]) -> Mapping[int, str]:
    """The names by which the program's own frames know tensors, and handles of variables, by their ids.

    The innermost frame's name counts: `x`, `weights[2]`, `self.layer.kernel`.
    """
    names: dict[int, str] = {}
    for frame in reversed(frames):
        if is_users(frame.place.file):
            for name, value in list(frame.names.items()):
                if not name.startswith("__"):
                    _note(names, name, value, 0)
    return names


def namer(frames: Sequence[LiveFrame], names: Mapping[int, str] | None = None) -> Callable[[Source], str]:
    """Gives the program's name for what came from outside: that in `names`, else in its frames; empty for none."""
    known = names or names_of_tensors(frames)
    return lambda source: known.get(source.key) or name_of_array(frames, source.given)


def name_of_array(frames: Sequence[LiveFrame], given: object) -> str:
    """The name that the program has for the array of which TensorFlow made `given`; empty for none."""
    if not isinstance(given, np.ndarray) or not given.ndim:
        return ""
    for frame in reversed(frames):
        if is_users(frame.place.file):
            for name, value in list(frame.names.items()):
                if isinstance(value, np.ndarray) and value.shape == given.shape and _same(value, given):
                    return name
    return ""


def _same(value: Array, given: Array) -> bool:
    """Whether `given` has the elements of `value`, be it in another dtype."""
    try:
        return np.array_equal(value.astype(given.dtype), given, equal_nan=given.dtype.kind in "fc")
    except (TypeError, ValueError):
        return False


def _note(names: dict[int, str], name: str, value: Any, depth: int) -> None:
    if len(names) >= _MOST_NAMES:
        return
    if type(value) is EagerTensor:
        names.setdefault(compat.tensor_id(value), name)
        return
    handle = getattr(value, "handle", None) if isinstance(value, tf.Variable) else None
    if handle is not None:
        names.setdefault(compat.tensor_id(handle), name)
        return
    if depth < _DEEPEST:
        for inner, held in _parts(value):
            _note(names, name + inner, held, depth + 1)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (list, tuple)):
        yield from ((f"[{at}]", item) for at, item in enumerate(value[:100]))
    elif isinstance(value, dict):
        yield from ((f"[{key!r}]", item) for key, item in list(value.items())[:100])
    elif isinstance(value, tf.Module) or (_is_programs(type(value)) and hasattr(value, "__dict__")):
        own = [(key, item) for key, item in list(vars(value).items())[:200] if not key.startswith(_TRACKING)]
        yield from ((f".{key}", item) for key, item in own)
    elif type(value).__module__.partition(".")[0] in {"keras", "tf_keras"}:
        yield from _of_keras(value)


def _is_programs(kind: type) -> bool:
    """Whether a class is the program's own."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and is_users(file)


def _of_keras(value: Any) -> Iterator[tuple[str, Any]]:
    """The tf.Variables of a layer, a model, an optimizer or a variable of Keras."""
    if isinstance(getattr(value, "value", None), tf.Variable):
        yield "", value.value
        return
    for variable in getattr(value, "variables", ()):
        raw = getattr(variable, "value", None)
        path = getattr(variable, "path", None) or variable.name.partition(":")[0]
        yield f".{path}", raw if isinstance(raw, tf.Variable) else variable
