"""Whether an expression of `eval` is light: whatever its tensors hold, its result is about as large as they are.

What is not on the lists here is not light. That says nothing against it, but that nobody knows before it is computed.
"""

from __future__ import annotations

import ast

import numpy as np

from tfdbg_cli.analysis.expression.names import NUMPY

_UFUNCS = frozenset(
    name for name, entry in NUMPY.entries.items() if isinstance(entry, np.ufunc) and entry.signature is None
) - {"power", "float_power", "left_shift", "bitwise_left_shift", "ldexp"}
_FUNCTIONS = _UFUNCS | {
    "sum", "mean", "max", "min", "amax", "amin", "std", "var", "prod", "any", "all", "argmax", "argmin", "median",
    "count_nonzero", "nansum", "nanmean", "nanmax", "nanmin", "shape", "size", "ndim", "ravel", "squeeze", "real",
    "imag", "transpose", "isclose", "allclose",
}  # fmt: skip
_CONSTANTS = frozenset({"pi", "e", "inf", "nan", "newaxis"})
_METHODS = frozenset({
    "sum", "mean", "max", "min", "std", "var", "prod", "any", "all", "argmax", "argmin", "ravel", "squeeze",
    "transpose", "conj", "item", "copy",
})  # fmt: skip
_FACTS = frozenset({"T", "shape", "size", "ndim", "dtype", "nbytes", "itemsize", "real", "imag"})
_BUILT_INS = frozenset({"abs", "float", "bool", "len"})
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor)
_MOST_NODES = 200


def is_light(tree: ast.AST, tensors: frozenset[str]) -> bool:
    """Whether `tree`, in which the names `tensors` are arrays of numbers, is light."""
    return sum(1 for _ in ast.walk(tree)) <= _MOST_NODES and _light(tree, tensors)


def _light(node: ast.AST, tensors: frozenset[str]) -> bool:
    match node:
        case ast.Constant(value=value):
            return not isinstance(value, str | bytes)
        case ast.Name(id=name):
            return name in tensors
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name):
            return name in _CONSTANTS
        case ast.Attribute(value=owner, attr=name):
            return name in _FACTS and _light(owner, tensors)
        case ast.Call(func=function, args=given, keywords=named):
            parts = [*given, *(keyword.value for keyword in named)]
            return _light_function(function, tensors) and all(_light(part, tensors) for part in parts)
        case ast.BinOp(left=left, op=symbol, right=right):
            return isinstance(symbol, _OPERATORS) and _light(left, tensors) and _light(right, tensors)
        case ast.UnaryOp(operand=operand):
            return _light(operand, tensors)
        case ast.BoolOp(values=parts):
            return all(_light(part, tensors) for part in parts)
        case ast.Compare(left=left, ops=symbols, comparators=parts):
            whole = not any(isinstance(symbol, ast.In | ast.NotIn) for symbol in symbols)
            return whole and all(_light(part, tensors) for part in (left, *parts))
        case ast.Subscript(value=owner, slice=index):
            return _light(owner, tensors) and _light_index(index)
        case ast.IfExp(test=test, body=body, orelse=other):
            return all(_light(part, tensors) for part in (test, body, other))
        case _:
            return False


def _light_function(function: ast.expr, tensors: frozenset[str]) -> bool:
    match function:
        case ast.Name(id=name):
            return name in _BUILT_INS
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name):
            return name in _FUNCTIONS
        case ast.Attribute(value=owner, attr=name):
            return name in _METHODS and _light(owner, tensors)
        case _:
            return False


def _light_index(index: ast.expr) -> bool:
    """Whether an index is of numbers and slices: those of basic indexing, which picks and copies nothing."""
    match index:
        case ast.Tuple(elts=parts):
            return all(map(_light_index, parts))
        case ast.Slice(lower=lower, upper=upper, step=step):
            return all(part is None or _light_index(part) for part in (lower, upper, step))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())) | ast.Constant(value=int() | None):
            return True
        case ast.Constant(value=value):
            return value is Ellipsis
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="newaxis"):
            return True
        case _:
            return False
