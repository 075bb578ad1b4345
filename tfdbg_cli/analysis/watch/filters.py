"""The built-in filters, one row each. The ops that check the same inside a run are in capture/questions/."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeGuard

import ml_dtypes
import numpy as np

from tfdbg_cli.analysis.watch.filter import Among, Bad, Filter, TensorFilter
from tfdbg_cli.analysis.watch.training_filters import (
    dead_relu,
    gradient_norm_above,
    gradient_norm_below,
    unchanged_variable,
    update_ratio_above,
)
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.model.statistics import any_nonfinite, largest_magnitude
from tfdbg_cli.model.values import Array, NoValue, Value


def has_inf_or_nan(datum: Any, tensor: Value) -> bool:
    """Whether `tensor` holds a NaN or an infinity; bfloat16, float8 and complex count, NoValue never does."""
    # A program may pass values of TensorFlow's own DebugDumpDir, which for a missing one are objects without a dtype.
    if isinstance(tensor, NoValue) or not hasattr(tensor, "dtype"):
        return False
    return any_nonfinite(tensor) and _means_something(datum)


def bad_result(datum: Any, tensor: Value) -> bool:
    """Whether `tensor` comes out of the run and holds a NaN or an infinity.

    That is a result, what an update applies to a variable, the variable after it, or what is put into a queue.
    """
    from tfdbg_cli.analysis.watch.outcome import outcome_of  # the one filter that follows the graph

    call = getattr(datum, "call", None)
    comes_out = call is not None and outcome_of(datum.graph, call).includes(
        datum.tensor.name, datum.graph, datum.store
    )
    return comes_out and has_inf_or_nan(datum, tensor)


def has_nan(datum: Any, tensor: Value) -> bool:
    """Whether `tensor` holds a NaN, be it in one part of a complex number."""
    return _can_be_inexact(tensor) and bool(nan_mask(tensor).any()) and _means_something(datum)


def has_inf(datum: Any, tensor: Value) -> bool:
    """Whether `tensor` holds an infinity, be it in one part of a complex number."""
    return _can_be_inexact(tensor) and bool(np.isinf(tensor).any()) and _means_something(datum)


def _means_something(datum: Any) -> bool:
    return not getattr(datum, "undefined", False)


def all_zero(datum: Any, tensor: Value) -> bool:
    """Whether every element of a float or complex `tensor` is zero; constants and empty tensors never pass."""
    if not _can_be_inexact(tensor) or tensor.size == 0 or getattr(datum, "op_type", "") == "Const":
        return False
    return not np.any(tensor != 0) and _means_something(datum)


def _magnitude_above(datum: Any, tensor: Value, limit: float) -> bool:
    """Whether an element is larger than `limit`, either way; an infinity is, a NaN is not."""
    if not _can_be_inexact(tensor):
        return False
    return _magnitude(tensor) > limit and _means_something(datum)


def _near_overflow(datum: Any, tensor: Value, share: float) -> bool:
    """Whether an element reaches `share` of the largest number that its dtype can hold."""
    if not _can_be_inexact(tensor):
        return False
    largest = float(ml_dtypes.finfo(tensor.dtype).max)  # type: ignore[no-untyped-call]
    return _magnitude(tensor) >= share * largest and _means_something(datum)


def _magnitude(tensor: Array) -> float:
    """The largest magnitude of an element; NaN, which is beyond nothing, where there is none that has one."""
    found = largest_magnitude(tensor, finite=False)
    return found if found > 0 or not nan_mask(tensor).all() else math.nan


def _can_be_inexact(tensor: Value) -> TypeGuard[Array]:
    return not isinstance(tensor, NoValue) and is_inexact(tensor.dtype)


FILTERS: tuple[Filter, ...] = (
    Filter(
        "bad_result", "a NaN or an infinity in what comes out: a result, an applied gradient, an updated variable",
        bad_result, among=Among.OUTCOME, finds=Bad.EITHER,
    ),
    Filter("has_inf_or_nan", "a NaN or an infinity", has_inf_or_nan, finds=Bad.EITHER),
    Filter("has_nan", "a NaN", has_nan, finds=Bad.NAN),
    Filter("has_inf", "an infinity", has_inf, finds=Bad.INFINITE),
    Filter("all_zero", "a float or complex tensor, no constant, whose elements are all 0", all_zero),
    # `least`: TensorFlow's kernels flush denormal numbers to zero, and take a NaN, or no element at all, for a
    # magnitude of 0, so that with smaller parameters checks inside a run would answer differently.
    Filter("magnitude_above", "a float or complex element beyond N, either way", _magnitude_above, 1e4, least=1e-30),
    Filter(
        "near_overflow", "a float or complex element that reaches the share N of what its dtype can hold",
        _near_overflow, 0.5,  # one doubling away from infinity
        least=1e-6,
    ),
    Filter("unchanged_variable", "a variable that the run writes and leaves as it was", unchanged_variable,
           compares=True),
    Filter(
        "update_ratio", "a weight of two axes or more that an update changes by more than N times its L2 norm",
        update_ratio_above, 1.0, compares=True, inside=False,
    ),
    Filter(
        "vanishing_gradient", "a gradient that an update reads, with an L2 norm of at most N",
        gradient_norm_below, 1e-8, least=1e-30, among=Among.GRADIENTS,
    ),
    Filter(
        "exploding_gradient", "such a gradient with an L2 norm beyond N, or not finite",
        gradient_norm_above, 1e3, least=1e-30, among=Among.GRADIENTS,
    ),
    Filter("dead_relu", "a ReLU of whose units (last axis) the share N is 0 for the whole batch", dead_relu, 0.9),
)  # fmt: skip
BUILT_IN_FILTERS: Mapping[str, Filter] = MappingProxyType({each.name: each for each in FILTERS})


def our_filter(tensor_filter: TensorFilter) -> Filter | None:
    """The built-in Filter that `tensor_filter` is, or is the plain test of; None for a filter of the program's."""
    if isinstance(tensor_filter, Filter):
        return tensor_filter
    # Compared by identity, since the program's filter may be any object.
    return next((each for each in FILTERS if each.parameter is None and each.test is tensor_filter), None)


def checked_inside(tensor_filter: TensorFilter) -> bool:
    """Whether ops in the graph can check the filter; any other has to be applied to captured values."""
    ours = our_filter(tensor_filter)
    return ours is not None and ours.checked_inside


def filter_named(filters: Mapping[str, TensorFilter], text: str) -> TensorFilter:
    """The filter that `text` means: a name, or `NAME:NUMBER` for a filter with a parameter.

    Raises:
        TfdbgError: there is no such filter, it takes no number, or what follows the colon is no number.

    """
    found = filters.get(text)
    if found is not None:
        return found
    name, colon, number = text.rpartition(":")
    base = filters.get(name) if colon else None
    if isinstance(base, Filter) and base.parameter is not None:
        return _with_parameter(base, number)
    if base is not None:
        raise TfdbgError(f"The filter {name} takes no number.", hint=f"Write: {name}")
    hint = did_you_mean(text, filters) or f"Filters: {', '.join(sorted(filters))}."
    raise TfdbgError(f"There is no filter {text!r}.", hint=hint)


@lru_cache(maxsize=100)  # the same text gives the same object, whose id is the key of cached answers
def _with_parameter(base: Filter, text: str) -> Filter:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise TfdbgError(f"{text!r} is no number.", hint="Write NAME:NUMBER, such as magnitude_above:1e4.")
    return replace(base, parameter=number)


def require_filter(name: object, tensor_filter: object) -> None:
    """Check the arguments of `add_tensor_filter`.

    Raises:
        ValueError: the name is empty.
        TypeError: the name is no text, or the filter cannot be called.

    """
    if not isinstance(name, str):
        raise TypeError(f"The name of a tensor filter is a text, not {type(name).__name__}.")
    if not name:
        raise ValueError("The name of a tensor filter must not be empty.")
    if not callable(tensor_filter):
        raise TypeError(f"A tensor filter is called with a datum and a tensor; {tensor_filter!r} cannot be.")
