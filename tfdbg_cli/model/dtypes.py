"""TensorFlow's element types and what NumPy makes of them.

Numbers are those of `DataType` in tensorflow/core/framework/types.proto; a ref type is its base plus 100.
ml_dtypes supplies bfloat16, float8, float4 and the 2 and 4 bit integers. TensorFlow 2.16 takes only
ml_dtypes 0.3, which lacks int2, uint2 and float4_e2m1fn: tensors of those have no array there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

FLOAT, DOUBLE, INT32, BOOL, RESOURCE, VARIANT = 1, 2, 3, 10, 20, 21
FIRST_REFERENCE = 101
# Types without numbers, since what they lead to is elsewhere: by name, and by number.
HANDLES = frozenset({"resource", "variant"})
HANDLE_NUMBERS = frozenset({RESOURCE, VARIANT})


@dataclass(frozen=True, slots=True)
class ElementType:
    """One element type: TensorFlow's number and name, and its NumPy dtype (None: NumPy cannot hold it)."""

    number: int
    name: str
    numpy: np.dtype[Any] | None

    @property
    def itemsize(self) -> int | None:
        """Bytes an element takes in memory; None for strings, resources and variants."""
        return None if self.numpy is None or self.numpy.hasobject else self.numpy.itemsize


def _numpy(name: str) -> np.dtype[Any] | None:
    if hasattr(ml_dtypes, name):
        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return found
    try:
        return np.dtype(name)
    except TypeError:
        return None


_QUANTIZED = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}

_NAMES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string",
    8: "complex64", 9: "int64", 10: "bool", 11: "qint8", 12: "quint8", 13: "qint32", 14: "bfloat16",
    15: "qint16", 16: "quint16", 17: "uint16", 18: "complex128", 19: "float16", 20: "resource",
    21: "variant", 22: "uint32", 23: "uint64", 24: "float8_e5m2", 25: "float8_e4m3fn",
    26: "float8_e4m3fnuz", 27: "float8_e4m3b11fnuz", 28: "float8_e5m2fnuz", 29: "int4", 30: "uint4",
    31: "int2", 32: "uint2", 33: "float4_e2m1fn",
}  # fmt: skip


def _element_type(number: int, name: str) -> ElementType:
    if name == "string":
        return ElementType(number, name, np.dtype(object))
    if name in HANDLES:
        return ElementType(number, name, None)
    return ElementType(number, name, _numpy(_QUANTIZED.get(name, name)))


_BY_NUMBER = {number: _element_type(number, name) for number, name in _NAMES.items()}
_BY_NAME = {element.name: element for element in _BY_NUMBER.values()}


def element_type(number: int) -> ElementType:
    """The element type with TensorFlow's `number`; an unknown number is kept as `dtype N`."""
    base = number - FIRST_REFERENCE + 1 if number >= FIRST_REFERENCE else number
    return _BY_NUMBER.get(base) or ElementType(base, f"dtype {base}", None)


def element_type_named(name: str) -> ElementType | None:
    """The element type called `name` (`float32`, `bfloat16`, `string` …), or None."""
    return _BY_NAME.get(name.removesuffix("_ref"))


def element_type_names() -> list[str]:
    """Every name of an element type, sorted."""
    return sorted(_BY_NAME)


def lacks_numpy_type(element: ElementType) -> bool:
    """Whether NumPy could hold `element`, with a newer ml_dtypes than the one that is installed."""
    return element.numpy is None and element.name not in HANDLES and element.name in _BY_NAME


@cache
def is_inexact(dtype: np.dtype[Any]) -> bool:
    """Whether `dtype` can hold NaN or infinity: every float and complex type, bfloat16 and float8 too."""
    if np.issubdtype(dtype, np.inexact):
        return True
    try:
        ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    except (ValueError, TypeError):
        return False
    return True


def in_double(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`array` as float64, or complex128 for complex numbers.

    NumPy warns of a NaN whose bits say that one is to be told of it; a debugger has them on the screen.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def may_have_fractions(name: str) -> bool:
    """Whether elements of the type called `name` are float or complex numbers; those of an unknown type may be."""
    element = element_type_named(name)
    return element is None or (element.numpy is not None and is_inexact(element.numpy))


def name_of(dtype: np.dtype[Any]) -> str:
    """TensorFlow's name of a NumPy dtype; text and objects are `string`."""
    return "string" if dtype.kind in "OSUT" else dtype.name
