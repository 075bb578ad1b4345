"""Numbers so small that TensorFlow's kernels take them for 0: that is the cause, and not what they look like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.made_run import Op, made_run, op

from tfdbg_cli.analysis.origin.search import OriginSearch

SMALL = np.array([1e-40, -2e-40, 1.0, 3e-42], np.float32)
_TAKEN = "; numbers below 1.18e-38, denormal ones, are taken for 0: those of "


def _cause(made: Op, *given: Op) -> str:
    feeds = {f"{one.name}:0": one.values[0] for one in given if one.op_type == "Placeholder"}
    origin = OriginSearch(made_run(*given, made, feeds=feeds)).first()
    assert origin is not None
    assert origin.cause is not None
    return origin.cause.text


def _x(value: Any = SMALL) -> Op:
    return op("x", "Placeholder", value=value)


def test_a_division_and_a_power_by_what_counts_as_0() -> None:
    inf, one = np.float32(np.inf), op("one", "Const", value=np.float32(1e-10))
    made = np.array([inf, -inf, 1e-10, inf], np.float32)
    told = _cause(op("out", "RealDiv", "one", "x", value=made), _x(), one)
    assert told == f"Division by 0: x:0 is 0 at 3 elements{_TAKEN}x:0 (as small as 3e-42)."
    half = op("half", "Const", value=np.float32(-0.5))
    made = np.array([inf, inf, 1, inf], np.float32)
    assert "0 to a negative power" in _cause(op("out", "Pow", "x", "half", value=made), _x(np.abs(SMALL)), half)


def test_what_is_divided_by_itself_is_named_once() -> None:
    told = _cause(op("out", "RealDiv", "x", "x", value=np.where(SMALL == 1, 1, np.nan).astype(np.float32)), _x())
    assert told.startswith("0 / 0") and told.count("as small as") == 1


def test_where_nothing_else_is_at_work_that_alone_is_told() -> None:
    made = np.where(SMALL == 1, 1, np.nan).astype(np.float32)
    told = _cause(op("out", "Sinh", "x", value=made), _x())
    assert told == "Numbers below 1.18e-38, denormal ones, are taken for 0: those of x:0 (as small as 3e-42)."


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_numbers_with_all_their_digits_are_taken_as_they_are(dtype: Any) -> None:
    """Float16 is computed with in float32, in which its smallest numbers have all their digits."""
    x = np.array([6e-8 if dtype is np.float16 else 1e-37, 1.0], dtype)
    one = op("one", "Const", value=np.array(1e4, dtype))
    told = _cause(op("out", "RealDiv", "one", "x", value=np.array([np.inf, 1e4], dtype)), _x(x), one)
    assert "taken for 0" not in told and "exceeds" in told
