"""The names by which the program knows tensors and variables."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import FrameType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.runs.eager.log.noted_ops import OutsideInput
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.callers import is_users, names_in
from tfdbg_cli.capture.tf.compat import EagerTensor
from tfdbg_cli.capture.tf.trace_types import fields_of
from tfdbg_cli.model.dtypes import HANDLE_NUMBERS
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.names import node_of_variable
from tfdbg_cli.model.values import Array
from tfdbg_cli.process.own_frames import is_own

_MOST_NAMES = 5_000
_TRACKING = "_self_"  # prefix of attributes in which TensorFlow tracks the other attributes once more
_DEEPEST = 3  # levels of lists in lists and attributes of attributes that are searched
_MOST_VARIABLES = 50_000  # names that are kept

_VARIABLES: dict[int, str] = {}
"""The name under which each variable was shown first, by the id of its handle (ids are not used twice)."""

_SEEN: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""The variables that calls of the program had a name for, by the ids of their handles."""


def variable_of_handle(handle: EagerTensor) -> Any:
    """The tf.Variable of `handle`; None where no call of the program had a name for it when names were looked up."""
    return _SEEN.get(compat.tensor_id(handle))


def names_of_tensors(frames: Sequence[LiveFrame]) -> Mapping[int, str]:
    """The names by which the program's own frames know tensors, and handles of variables, by their ids.

    Of a tensor the innermost frame's name counts: `x`, `parts[2]`, `outputs.loss`. Of a variable it is the outermost
    one's, which is there in all runs: `policy.layer.kernel`, and not `self.kernel` of the method that happens to be
    running.
    """
    tensors: dict[int, str] = {}
    variables: dict[int, str] = {}
    for frame in frames:
        if is_users(frame.place.file):
            here = _Named(frame.names)
            tensors = {**tensors, **here.tensors}
            variables = {**here.variables, **variables}
    return {**tensors, **variables}


def names_at_hand(wanted: AbstractSet[int]) -> Mapping[int, str]:
    """The names that the calls of this thread have for the tensors with the ids `wanted`, the innermost first.

    Asked when a tensor is first read, for its name may be gone when the run ends; so only plain names are looked at.
    """
    found: dict[int, str] = {}
    frame: FrameType | None = inspect.currentframe()
    while frame is not None and len(found) < len(wanted):
        file = frame.f_code.co_filename
        if not is_own(file) and is_users(file):
            for name, value in list(names_in(frame).items()):
                if type(value) is EagerTensor and compat.tensor_id(value) in wanted and not name.startswith("__"):
                    found.setdefault(compat.tensor_id(value), name)
        frame = frame.f_back
    return found


def namer(
    frames: Sequence[LiveFrame], names: Mapping[int, str] | None = None, read: Mapping[int, str] | None = None
) -> Callable[[OutsideInput], str]:
    """A function that returns the program's name for a value from outside; empty where it has none.

    Names are taken from `names`, from `read`, which has tensors as they were called when they were read, and from the
    `frames`. A variable keeps its first name in this process, so that tables over many runs have
    one row for it.
    """
    known = {**names_of_tensors(frames), **(read or {}), **(names or {})}

    def named(source: OutsideInput) -> str:
        if source.dtype not in HANDLE_NUMBERS:
            # A Python value has the dtype 0 and the key 0, which is also the id of the first tensor of the process.
            return (source.dtype and known.get(source.key)) or name_of_array(frames, source.given)
        name = _VARIABLES.get(source.key) or known.get(source.key, "")
        if name:
            if len(_VARIABLES) >= _MOST_VARIABLES:
                _VARIABLES.clear()
            _VARIABLES[source.key] = name
        return name

    return named


def name_of_array(frames: Sequence[LiveFrame], given: object) -> str:
    """The program's name for the NumPy array or the list of numbers that TensorFlow made `given` of; empty for none.

    They are compared by their elements: first one whose numbers are of the same kind, then one that was converted. If
    several of one frame have the same, such as zeros, none is named.
    """
    if not isinstance(given, np.ndarray) or not given.ndim:
        return ""
    for frame in reversed(frames):
        if is_users(frame.place.file):
            alike: dict[bool, dict[int, str]] = {True: {}, False: {}}  # by the id of an array, its first name
            for name, value in list(frame.names.items()):
                array = _numbers(value, given)
                if array is not None and _same(array, given):
                    alike[array.dtype.kind == given.dtype.kind].setdefault(id(value), name)
            for found in alike.values():
                if found:
                    return next(iter(found.values())) if len(found) == 1 else ""
    return ""


def _numbers(value: Any, given: Array) -> Array | None:
    """`value` as an array, if it is one of the shape of `given`, or a list of as many numbers; else None."""
    if isinstance(value, np.ndarray):
        return value if value.shape == given.shape else None
    plain = isinstance(value, (list, tuple)) and given.ndim == 1 and len(value) == len(given)
    return np.array(value) if plain and all(type(one) in (bool, int, float) for one in value) else None


def _same(value: Array, given: Array) -> bool:
    """Whether `given` has the elements of `value`, be it in another dtype; TensorFlow makes no integers of floats."""
    if value.dtype.kind == "f" and given.dtype.kind in "biu":
        return False
    try:
        with np.errstate(all="ignore"):  # NaN is no integer, and the program may want errors instead of warnings
            return np.array_equal(value.astype(given.dtype), given, equal_nan=given.dtype.kind in "fc")
    except (TypeError, ValueError, OverflowError):
        return False


class _Named:
    """What the names of one call stand for: tensors and handles of variables, each by its id with its first name."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.tensors: dict[int, str] = {}
        self.variables: dict[int, str] = {}
        for name, value in list(names.items()):
            if not name.startswith("__"):
                self._note(name, value, 0)

    def _note(self, name: str, value: Any, depth: int) -> None:
        if len(self.tensors) + len(self.variables) >= _MOST_NAMES:
            return
        if type(value) is EagerTensor:
            self.tensors.setdefault(compat.tensor_id(value), name)
            return
        # A variable with a copy on each replica answers for the first one, but not in the scope of its strategy, as
        # in `fit`, where it raises: so the copies are asked themselves.
        spread = isinstance(value, tf.distribute.DistributedValues)
        handle = getattr(value, "handle", None) if isinstance(value, tf.Variable) and not spread else None
        if handle is not None:
            self.variables.setdefault(compat.tensor_id(handle), name)
            _SEEN[compat.tensor_id(handle)] = value
            return
        if depth < _DEEPEST:
            for inner, held in _parts(value):
                self._note(name + inner, held, depth + 1)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, tf.distribute.DistributedValues):
        yield from ((f".values[{at}]" if at else "", copy) for at, copy in enumerate(getattr(value, "values", ())))
    elif isinstance(value, (list, tuple)):
        first = zip(fields_of(value), value[:100], strict=False)
        yield from ((f".{key}" if isinstance(key, str) else f"[{key}]", item) for key, item in first)
    elif isinstance(value, dict):
        yield from ((f"[{key!r}]", item) for key, item in list(value.items())[:100])
    elif isinstance(value, tf.Module) or (_is_programs(type(value)) and hasattr(value, "__dict__")):
        own = [(key, item) for key, item in list(vars(value).items())[:200] if not key.startswith(_TRACKING)]
        own.sort(key=lambda part: part[0].startswith("_"))  # lists in which a library keeps what has a name, too
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
    variables = getattr(value, "variables", ())
    for variable in variables() if inspect.ismethod(variables) else variables:  # optimizers of Keras 2 have a method
        raw = getattr(variable, "value", None)
        path = node_of_variable(getattr(variable, "path", None) or variable.name)
        yield f".{path}", raw if isinstance(raw, tf.Variable) else variable
