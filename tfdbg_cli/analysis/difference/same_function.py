"""Ops computed again in NumPy: what they gave in both runs is the same function of what they were given.

What that makes of rounding in the inputs needs no bound then: 0 divided by almost 0 is anything, and so is a sum of
numbers that nearly cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod, sqrt
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from tfdbg_cli.analysis.graph.making.parts import MISFIT, flag
from tfdbg_cli.model.dtypes import in_double, is_inexact
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.ops.kinds import ADDED_UP, ADDITIONS, MATMULS, QUOTIENTS, RECIPROCALS

_STEPS = 4  # of the element type, as far as what a kernel gives may lie from what float64 gives
_MOST = 1 << 24  # elements that are computed again, and products that are added up

# What an op gives by float64, and of what size the terms were that it added up for that, times the root of how many.
Computed: TypeAlias = tuple[Any, Any]
_Function: TypeAlias = Callable[[Sequence[Any], Node], Computed]


def _by_element(function: Callable[..., Any]) -> _Function:
    def computed(given: Sequence[Any], _: Node) -> Computed:
        return function(*given), 0.0

    return computed


def _added(given: Sequence[Any], node: Node) -> Computed:
    """Sum and Mean: the second input has the axes."""
    values, axes = given
    over = tuple(int(axis) for axis in np.asarray(axes).reshape(-1))
    keep = flag(node, "keep_dims")
    return _reduced(np.mean if node.op_type == "Mean" else np.sum, values, over, keep=keep)


def _bias_gradient(given: Sequence[Any], node: Node) -> Computed:
    (values,) = given
    channels = 1 if "NCHW" in node.attributes.get("data_format", "") else values.ndim - 1
    return _reduced(np.sum, values, tuple(axis for axis in range(values.ndim) if axis != channels), keep=False)


def _reduced(reduce: Callable[..., Any], values: Any, over: tuple[int, ...], *, keep: bool) -> Computed:
    terms = prod(values.shape[axis] for axis in over)
    return (
        reduce(values, axis=over, keepdims=keep),
        sqrt(terms) * reduce(np.abs(values), axis=over, keepdims=keep),
    )


def _product(given: Sequence[Any], node: Node) -> Computed:
    one, two = given
    if flag(node, "transpose_a") or flag(node, "adj_x"):
        one = np.swapaxes(one, -1, -2)
    if flag(node, "transpose_b") or flag(node, "adj_y"):
        two = np.swapaxes(two, -1, -2)
    if one.size * two.shape[-1] > _MOST:
        raise ValueError("too much to compute again")
    return np.matmul(one, two), sqrt(one.shape[-1]) * np.matmul(np.abs(one), np.abs(two))


_FUNCTIONS: Mapping[str, _Function] = {
    **dict.fromkeys(ADDITIONS, _by_element(np.add)),
    **dict.fromkeys(QUOTIENTS, _by_element(np.divide)),
    **dict.fromkeys(RECIPROCALS, _by_element(np.reciprocal)),
    **dict.fromkeys(ADDED_UP, _added),
    **dict.fromkeys(MATMULS, _product),
    "BiasAddGrad": _bias_gradient,
    "Log": _by_element(np.log),
    "Mul": _by_element(np.multiply),
    "Rsqrt": _by_element(lambda x: 1 / np.sqrt(x)),
    "Sqrt": _by_element(np.sqrt),
    "Square": _by_element(np.square),
    "SquaredDifference": _by_element(lambda x, y: np.square(x - y)),
    "Sub": _by_element(np.subtract),
}
"""By op type."""


def is_same_function(
    nodes: tuple[Node, Node],
    stores: tuple[TensorStore, TensorStore],
    rows: tuple[int, int],
    inputs: Sequence[tuple[int, int]],
) -> bool:
    """Whether the tensors at `rows` are, in both runs, what the first of `nodes` makes of those at `inputs`.

    Then it is the inputs alone by which the outputs differ, and no attribute either. False where nothing can be said:
    for other ops, numbers that are no real ones, and values that are not held.
    """
    function = _FUNCTIONS.get(nodes[0].op_type)
    if function is None or nodes[0].op_type != nodes[1].op_type:
        return False
    return all(
        _gives(function, nodes[0], store.value(row), [store.value(given[side]) for given in inputs])
        for side, (store, row) in enumerate(zip(stores, rows, strict=True))
    )


def _gives(function: _Function, node: Node, output: Array | NoValue, inputs: Sequence[Array | NoValue]) -> bool:
    given = [one for one in inputs if not isinstance(one, NoValue)]
    if isinstance(output, NoValue) or not given or len(given) < len(inputs) or not _is_real(output):
        return False
    if max(one.size for one in (output, *given)) > _MOST or not _is_real(given[0]):
        return False
    facts = ml_dtypes.finfo(output.dtype)  # type: ignore[no-untyped-call]
    eps, smallest, most = float(facts.eps), float(facts.smallest_normal), float(facts.max)
    with np.errstate(all="ignore"):
        try:
            expected, added = function([in_double(one) if _is_real(one) else one for one in given], node)
        except MISFIT:  # inputs that such an op does not take
            return False
        if np.shape(expected) != output.shape:
            return False
        found = in_double(output)
        near = np.abs(found - expected) <= _STEPS * eps * (np.abs(expected) + added) + smallest
        overflows = np.isinf(found) & (np.abs(expected) >= most) & (np.sign(found) == np.sign(expected))
    return bool((near | overflows | (np.isnan(found) & np.isnan(expected)) | (found == expected)).all())


def _is_real(array: Array) -> bool:
    return is_inexact(array.dtype) and array.dtype.kind != "c"
