"""Ops that answer a question, described without the graph or function that they are added to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from tfdbg_cli.model.dtypes import ElementType, element_type_named

ASKED, BEFORE = -1, -2
"""The tensor that is asked, and the value of the same variable from before its update, as inputs of steps."""

Attribute: TypeAlias = "bool | int | ElementType | np.ndarray[Any, Any]"
_ROW = np.array([-1], np.int32)
_FIRST_AXIS = np.array([0], np.int32)
_PARTS = {"complex64": "float32", "complex128": "float64"}
_BITS = {"float16": "int16", "bfloat16": "int16", "float32": "int32", "float64": "int64"}


@dataclass(frozen=True)
class RecipeStep:
    """One op with one output. Its inputs are earlier steps, by number, `ASKED` or `BEFORE`."""

    op_type: str
    inputs: tuple[int, ...]
    attributes: Mapping[str, Attribute]


@dataclass
class AnswerRecipe:
    """Steps of which the last gives the answer: a row of float32, of the question's width or of length 1.

    `compiled` says that XLA compiles them. The methods add steps, and give the number of the one whose output counts.
    """

    compiled: bool = False
    steps: list[RecipeStep] = field(default_factory=list)
    whole: bool = True

    def op(self, op_type: str, *inputs: int, **attributes: Attribute) -> int:
        """Add one op."""
        self.steps.append(RecipeStep(op_type, inputs, attributes))
        return len(self.steps) - 1

    def constant(self, value: Any, dtype: str) -> int:
        """A constant of one of the types that NumPy has."""
        array = np.asarray(value).astype(kind(dtype).numpy)
        return self.op("Const", dtype=kind(dtype), value=array)

    def cast(self, value: int, source: str, target: str) -> int:
        """Convert each element."""
        return self.op("Cast", value, SrcT=kind(source), DstT=kind(target), Truncate=False)

    def reals(self, value: int, dtype: str) -> list[tuple[int, str]]:
        """`value` as tensors of real numbers of a dtype that arithmetic has kernels for, each with that dtype.

        There is one, but for the two parts of complex numbers under XLA; 8 bit numbers become float32.
        """
        if dtype in _PARTS and self.compiled:  # XLA has no Bitcast of complex numbers
            part = _PARTS[dtype]
            return [(self.op(op, value, T=kind(dtype), Tout=kind(part)), part) for op in ("Real", "Imag")]
        if dtype in _PARTS:
            return [(self.op("Bitcast", value, T=kind(dtype), type=kind(_PARTS[dtype])), _PARTS[dtype])]
        if dtype in _BITS:
            return [(value, dtype)]
        return [(self.cast(value, dtype, "float32"), "float32")]  # 8 bits: all of them are float32 numbers too

    def bits(self, value: int, dtype: str) -> tuple[int, str]:
        """The elements of a tensor of real numbers as integers."""
        return self.op("Bitcast", value, T=kind(dtype), type=kind(_BITS[dtype])), _BITS[dtype]

    def row(self, value: int, dtype: str) -> int:
        """The elements in one row."""
        shape = self.constant(_ROW, "int32")
        return self.op("Reshape", value, shape, T=kind(dtype), Tshape=kind("int32"))

    def any(self, truths: int) -> int:
        """Whether an element of a bool tensor is true, as a row of length 1."""
        return self.reduced("Any", self.row(truths, "bool"), None)

    def reduced(self, op_type: str, value: int, dtype: str | None, *, keep: bool = True) -> int:
        """Reduce the first axis by `op_type`; `dtype` is that of the elements, where the op asks for it."""
        axis = self.constant(_FIRST_AXIS, "int32")
        types = {} if dtype is None else {"T": kind(dtype)}
        return self.op(op_type, value, axis, Tidx=kind("int32"), keep_dims=keep, **types)

    def counted(self, truths: int) -> int:
        """1.0 for true, 0.0 for false."""
        return self.cast(truths, "bool", "float32")

    def contrary(self, counts: int) -> int:
        """1 - `counts`, for 0 and 1. No LogicalNot: the optimizer makes a comparison of that which NaN passes."""
        return self.op("Sub", self.constant(np.ones(1), "float32"), counts, T=kind("float32"))

    def unless_empty(self, counts: int, value: int, dtype: str, size: int | None) -> int:
        """`counts`, or zeros when the tensor `value` has no elements; `size` is their number where that is known."""
        if size:
            return counts
        count = self.op("Size", value, T=kind(dtype), out_type=kind("int32"))
        filled = self.op("Greater", count, self.constant(0, "int32"), T=kind("int32"))
        return self.op("Mul", counts, self.counted(filled), T=kind("float32"))


def kind(name: str) -> ElementType:
    """The element type of that name."""
    found = element_type_named(name)
    assert found is not None, name
    return found
