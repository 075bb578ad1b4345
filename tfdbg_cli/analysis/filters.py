"""Filters: questions with yes or no for an answer, asked of every tensor."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, TypeAlias

from tfdbg_cli.model.statistics import any_nonfinite
from tfdbg_cli.model.values import NoValue, Value

# (datum, value) -> bool, as in TensorFlow's tfdbg: `datum` has node_name, output_slot, … (analysis/datum.py);
# the value is an array, or a NoValue where there is none.
TensorFilter: TypeAlias = Callable[[Any, Any], bool]


def has_inf_or_nan(datum: Any, tensor: Value) -> bool:
    """Whether `tensor` holds a NaN or an infinity; bfloat16, float8 and complex count, NoValue never does."""
    return not isinstance(tensor, NoValue) and any_nonfinite(tensor)


BUILT_IN_FILTERS = MappingProxyType({"has_inf_or_nan": has_inf_or_nan})
