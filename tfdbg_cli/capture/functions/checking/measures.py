"""The ops that compute statistics of the tensors of a function, and put them one behind the other in one tensor.

Sums, extremes and signs are computed where a tensor is made, by kernels that go over it once. For a tensor of finite
elements they give all statistics; for any other they only tell that it is not finite. Of a small tensor the elements
themselves are returned, which takes fewer ops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from tfdbg_cli.capture.functions.checking.checks import added
from tfdbg_cli.capture.functions.definition.edit import Edit
from tfdbg_cli.capture.questions.question import element_count
from tfdbg_cli.capture.questions.recipe import Attribute, RecipeStep, kind
from tfdbg_cli.model.dtypes import DOUBLE, element_type
from tfdbg_cli.ops.transparent_shapes import Shape

WIDTH = 6
"""Numbers in a row: the sum, the least, the largest, half the sum of squares, the sum of the signs, and half of how
many are not zero. Behind the row of a tensor whose size is not known before the run stands its size."""
EXACT = 1 << 23
"""Halves (counts are sums of halves) up to this many are added up exactly in float32."""
_SMALL = 256
_WIDE = {
    **dict.fromkeys(("float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"), "float32"),
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"), "float64"),
    "float32": "float32", "float64": "float64",
}  # fmt: skip
_COMPLEX = frozenset({"complex64", "complex128"})
_AT_ONCE = 16  # parts; the optimizer takes the square of the time for an op of many inputs

MEASURED = frozenset({*_WIDE, *_COMPLEX})
"""The dtypes of which statistics are computed."""


def is_told(dtype: int, shape: Shape) -> bool:
    """Whether the elements of a tensor of this dtype (by number) and shape are returned, instead of a row."""
    known = element_count(shape)
    return known is not None and known <= _SMALL and element_type(dtype).name in _WIDE


def numbers_of(dtype: int, shape: Shape) -> int:
    """How many numbers are returned for such a tensor: its elements, or a row, or a row and its size."""
    known = element_count(shape)
    if is_told(dtype, shape):
        return known or 0
    return WIDTH if known is not None else WIDTH + 1


@dataclass(frozen=True)
class _Part:
    """Consecutive numbers of the result: the references `given` are vectors, or `scalars`, all of one `dtype`."""

    dtype: str
    device: str
    given: tuple[str, ...]
    scalars: bool


_Whole = TypeVar("_Whole")


def _in_groups(parts: Sequence[_Whole]) -> Iterator[Sequence[_Whole]]:
    """`parts`, so many at once as one op may join."""
    return (parts[start : start + _AT_ONCE] for start in range(0, len(parts), _AT_ONCE))


class Measures:
    """The statistics of one function that is being rewritten.

    Its result has the rows first, then the elements of small tensors, then the results of called functions.
    """

    def __init__(self, edit: Edit) -> None:
        """Compute them in the function of `edit`."""
        self._edit = edit
        self._rows: list[_Part] = []
        self._elements: list[_Part] = []
        self._calls: list[str] = []
        self._constants: dict[tuple[object, ...], str] = {}

    @property
    def dtype(self) -> int:
        """The element type of what `total` gives."""
        return DOUBLE

    def include(self, vector: str) -> None:
        """Add `vector`, the statistics that a called function gave."""
        self._calls.append(vector)

    def check(self, tensor: str, dtype: int, shape: Shape, device: str, *, before: str = "", asked: str = "") -> None:
        """Compute the statistics of `tensor`, given as the function refers to it.

        `asked` is the program's value for which it stands, where that is another.
        """
        first = len(self._edit.nodes)
        name = element_type(dtype).name
        if is_told(dtype, shape):
            self._elements.append(self._told(tensor, name, shape, device))
        else:
            self._rows.extend(self._row(tensor, name, element_count(shape), shape, device))
        for node in list(self._edit.nodes.values())[first:]:
            reads = [asked if text == tensor else "" for text in node.input]
            if asked and any(reads):
                self._edit.tell_reads(node, reads)

    def total(self) -> str:
        """Add the ops that join all numbers; returns the reference of the float64 vector."""
        parts = [*self._widened([*self._rows, *self._elements]), *self._calls]
        while len(parts) > 1:
            parts = [self._joined(group, "float64", "") for group in _in_groups(parts)]
        return parts[0]

    def _widened(self, parts: list[_Part]) -> Iterator[str]:
        """All `parts`, in their order, as vectors of float64; neighbours of one kind are joined by one op."""
        for (dtype, device, scalars), alike in groupby(parts, lambda part: (part.dtype, part.device, part.scalars)):
            for group in _in_groups([part.given for part in alike]):
                given = [reference for references in group for reference in references]
                if scalars:
                    joined = self._op("Pack", given, device, N=len(given), axis=0, T=kind(dtype))
                else:
                    joined = self._joined(given, dtype, device)
                yield joined if dtype == "float64" else self._cast(joined, dtype, "float64", device)

    def _joined(self, parts: Sequence[str], dtype: str, device: str) -> str:
        if len(parts) == 1:
            return parts[0]
        axis = self._constant(np.int32(0), "int32")
        return self._op("ConcatV2", [*parts, axis], device, N=len(parts), T=kind(dtype), Tidx=kind("int32"))

    def _told(self, tensor: str, dtype: str, shape: Shape, device: str) -> _Part:
        """The elements of `tensor`."""
        if shape == ():
            return _Part(dtype, device, (tensor,), scalars=True)
        whole = self._constant(np.array([-1], np.int32), "int32")
        flat = self._op("Reshape", [tensor, whole], device, T=kind(dtype), Tshape=kind("int32"))
        return _Part(dtype, device, (flat,), scalars=False)

    def _row(self, tensor: str, dtype: str, size: int | None, shape: Shape, device: str) -> list[_Part]:
        """A row of `tensor`, and its size where that is not known."""
        if dtype in _COMPLEX:
            parts = tensor if dtype == "complex128" else self._cast(tensor, dtype, "complex128", device)
            asked, real = (
                self._op("ComplexAbs", [parts], device, T=kind("complex128"), Tout=kind("float64")),
                "float64",
            )
        else:
            real = "float64" if size is not None and size > EXACT else _WIDE[dtype]
            asked = tensor if real == dtype else self._cast(tensor, dtype, real, device)
        of = {"T": kind(real)}
        axes = self._axes(asked, real, shape, device)
        reduced: dict[str, Attribute] = {**of, "Tidx": kind("int32"), "keep_dims": False}
        told = [self._op(op, [asked, axes], device, **reduced) for op in ("Sum", "Min", "Max")]
        told.append(self._op("L2Loss", [asked], device, **of))
        signs = self._op("Sign", [asked], device, **of)
        told += [self._op("Sum", [signs, axes], device, **reduced), self._op("L2Loss", [signs], device, **of)]
        row = _Part(real, device, tuple(told), scalars=True)
        if size is not None:
            return [row]
        counted = self._op("Size", [tensor], device, T=kind(dtype), out_type=kind("int64"))
        return [row, self._told(counted, "int64", (), device)]

    def _axes(self, tensor: str, dtype: str, shape: Shape, device: str) -> str:
        """All axes of `tensor`."""
        if shape is not None:
            return self._constant(np.arange(len(shape), dtype=np.int32), "int32")
        rank = self._op("Rank", [tensor], device, T=kind(dtype))
        ends = [self._constant(np.int32(0), "int32"), rank, self._constant(np.int32(1), "int32")]
        return self._op("Range", ends, device, Tidx=kind("int32"))

    def _cast(self, tensor: str, source: str, target: str, device: str) -> str:
        return self._op("Cast", [tensor], device, SrcT=kind(source), DstT=kind(target), Truncate=False)

    def _constant(self, value: Any, dtype: str) -> str:
        key = dtype, np.shape(value), np.asarray(value).tobytes()
        if key not in self._constants:
            self._constants[key] = self._op("Const", [], "", dtype=kind(dtype), value=np.asarray(value))
        return self._constants[key]

    def _op(self, op_type: str, inputs: list[str], device: str, **attributes: Attribute) -> str:
        return added(self._edit, "tfdbg_measure", RecipeStep(op_type, (), attributes), inputs, device)
