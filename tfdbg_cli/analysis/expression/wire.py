"""Values of expressions as bytes, on their way to the process that computes and back."""

from __future__ import annotations

import marshal
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

_PLAIN = (bool, int, float, complex, str, bytes, type(None))


@dataclass(frozen=True)
class Described:
    """A value of a type that has no other form here: what it is, and what Python prints for it."""

    type_name: str
    text: str

    def __repr__(self) -> str:
        return self.text


def packed(value: Any) -> bytes:
    """`value` as bytes: numbers, texts, arrays, and lists, tuples, sets and dictionaries of those."""
    return marshal.dumps(_packed(value))


def unpacked(content: bytes) -> Any:
    """What `packed` made bytes of.

    Raises:
        ValueError: the bytes end too early.
        EOFError: there are none.
        TypeError: they are something else.

    """
    return _unpacked(marshal.loads(content))


def _packed(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic) and np.asarray(value).dtype.fields is None:
        array = np.asarray(value)
        scalar = isinstance(value, np.generic)
        if array.dtype.hasobject:
            return ("texts", array.shape, [_packed(item) for item in array.flat])
        return ("array", _dtype_text(array.dtype), array.shape, scalar, np.ascontiguousarray(array).tobytes())
    if type(value) in _PLAIN:
        return ("plain", value)
    if isinstance(value, list | tuple | set | frozenset):
        kind = next(kind for kind in (list, tuple, set, frozenset) if isinstance(value, kind))
        return (kind.__name__, [_packed(item) for item in value])
    if isinstance(value, dict):
        return ("dict", [(_packed(key), _packed(item)) for key, item in value.items()])
    return ("described", type(value).__name__, repr(value))


def _unpacked(form: Any) -> Any:
    kind, *rest = form
    match kind:
        case "array":
            dtype, shape, scalar, content = rest
            array = np.frombuffer(content, _dtype_of(dtype)).reshape(shape)
            return array[()] if scalar else array
        case "texts":
            shape, items = rest
            texts = np.empty(len(items), object)
            texts[:] = [_unpacked(item) for item in items]
            return texts.reshape(shape)
        case "plain":
            return rest[0]
        case "dict":
            return {_unpacked(key): _unpacked(item) for key, item in rest[0]}
        case "described":
            return Described(*rest)
        case _:
            makers = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
            return makers[kind](map(_unpacked, rest[0]))


def _dtype_text(dtype: np.dtype[Any]) -> str:
    return dtype.name if dtype.kind == "V" or hasattr(ml_dtypes, dtype.name) else dtype.str


def _dtype_of(text: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, text, text))
