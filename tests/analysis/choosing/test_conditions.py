"""Conditions on what a tensor holds."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.analysis.choosing.conditions import condition_of
from tfdbg_cli.errors import TfdbgError

VALUE = np.array([[-2.0, 0.0, np.nan], [3.0, np.inf, 1.0]], np.float32)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("min < 0", True),
        ("min < -2", False),
        ("max == 3 and nan == 1", True),
        ("not inf", False),
        ("bad == 2 and size == 6 and rank == 2", True),
        ("absmax > 2.5", True),
        ("neg + zero + pos == 4", True),
        ("mean / zero > 1e9", False),
        ("1 / (zero - 1) > 0", False),
        ("-1 < min", False),
    ],
)
def test_figures_are_compared(text, holds) -> None:
    assert condition_of(text).holds([VALUE], list) is holds


def test_of_no_finite_elements_nothing_holds() -> None:
    nothing = [np.full(3, np.nan)]
    assert not condition_of("min < 0 or min >= 0").holds(nothing, list)
    assert condition_of("nan == 3").holds(nothing, list)


def test_what_an_op_was_given_is_asked_apart() -> None:
    condition = condition_of("input.min < 0 and nan == 0")
    assert condition.asks_inputs
    assert condition.holds([np.ones(2)], lambda: [np.ones(2), -np.ones(2)])
    assert not condition.holds([-np.ones(2)], lambda: [np.ones(2)])
    assert not condition.holds([np.full(2, np.nan)], lambda: [-np.ones(2)])
    assert condition_of("input.bad > 0").holds([], lambda: [np.array(np.inf)])


def test_texts_have_no_figures() -> None:
    assert not condition_of("size > 0").holds([np.array(["a", "b"], object)], list)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "min <",
        "__import__('os')",
        "min.real > 0",
        "[1]",
        "'a' == 'a'",
        "lambda: 0",
        "9**9**9",
        "minimum < 0",
        "True",
    ],
)
def test_what_is_no_condition_is_refused(text) -> None:
    with pytest.raises(TfdbgError):
        condition_of(text)


def test_what_an_op_gives_may_be_called_so_and_an_error_names_the_figures() -> None:
    """A blind test: `input.max` was known and `output.max` was not, and the error named no figure."""
    assert condition_of("output.max > 1 and input.max < 0").holds([np.array(2.0)], lambda: [np.array(-1.0)])
    assert not condition_of("output.max > 1").asks_inputs
    with pytest.raises(TfdbgError, match="There is no figure 'biggest'"):
        condition_of("output.biggest > 1")
    with pytest.raises(TfdbgError) as caught:
        condition_of("value.max > 1")
    assert "figures min, max, mean, std, absmax, nan" in caught.value.hint and "input." in caught.value.hint
