"""An op that cannot have given what it gave of its inputs as they are shown, and an epsilon that went so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.made_run import INF, NAN, Op, made_run, op

from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array

V = np.array([[0.75, 0.5, 0.25], [9.0, 8.0, 6.0]], np.float32)
U = np.array([[0.25], [5.0]], np.float32)
LOGS = np.array([[-0.7, -1.4, -INF], [1.4, 1.1, 0.0]], np.float32)


def _cause(run: Run, node: str = "out") -> Cause:
    origin = OriginSearch(run).first()
    assert origin is not None and origin.name.node == node
    return origin.cause


def _difference(shown: Array, *more: Op, epsilon: float = 1e-30) -> Run:
    """log(v - u + epsilon), which is -inf at the last element; the sum is `shown`."""
    return made_run(
        op("v", "Placeholder", value=V), op("u", "Placeholder", value=U), op("sub", "Sub", "v", "u", value=V - U),
        op("eps", "Const", value=np.float32(epsilon)), op("add", "AddV2", "sub", "eps", value=shown), *more,
        op("out", "Log", "add", value=LOGS),
    )  # fmt: skip


def test_an_epsilon_that_the_optimizer_added_to_a_term_is_named() -> None:
    """A blind test: nothing was said, as the sum is shown with the epsilon that the logarithm was not given."""
    cause = _cause(_difference(V - U + np.float32(1e-30)))
    assert cause.text == (
        "Log gave an infinity at 1 element, which it does not give of add:0 as shown: TensorFlow's optimizer computed"
        " it in another order than the program; the epsilon 1e-30 is lost: TensorFlow's optimizer adds it to v:0"
        " first, and 0.25 + 1e-30 is 0.25 in float32."
    )
    assert cause.suggestion.startswith("Bound the number rather than add to it, as by tf.maximum(x, 1e-30)")


def test_what_an_epsilon_is_lost_beside_is_a_number_of_the_bad_elements() -> None:
    """A blind test: it was said to be lost beside 0.885841, a number of an element that is fine."""
    cause = _cause(_difference(V - U))
    assert (
        "Log of 0: add:0 is 0 at 1 element; the epsilon 1e-30 is lost: TensorFlow's optimizer adds it to"
        in cause.text
    )
    assert "0.25 + 1e-30 is 0.25 in float32" in cause.text and "0.5" not in cause.text


@pytest.mark.parametrize("shown", [V - U, V - U + np.float32(1e-3)])
def test_an_epsilon_that_no_term_takes_in_is_not_said_to_be_lost(shown: Array) -> None:
    assert "is lost" not in _cause(_difference(shown, epsilon=1e-3)).text


@pytest.mark.parametrize(
    ("op_type", "given", "gave"),
    [
        ("Log", (2.0,), -INF), ("Sqrt", (4.0,), NAN), ("Exp", (1.0,), INF), ("Rsqrt", (0.5,), INF),
        ("RealDiv", (1.0, 1e-30), INF), ("Mul", (2.0, 3.0), NAN), ("AddV2", (2.0, 3.0), INF),
    ],
)  # fmt: skip
def test_what_no_op_gives_of_such_numbers_is_told_to_be_rewritten(
    op_type: str, given: tuple[float, ...], gave: float
) -> None:
    inputs = [op(f"x{at}", "Placeholder", value=np.float32([one])) for at, one in enumerate(given)]
    names = [one.name for one in inputs]
    run = made_run(*inputs, op("out", op_type, *names, value=np.float32([gave])))
    assert "TensorFlow's optimizer computed it in another order than the program" in _cause(run).text
    eager = replace(run, call=replace(run.call, kind=RunKind.EAGER))
    assert "optimizer" not in _cause(eager).text, "eager code is not optimized"


@pytest.mark.parametrize(
    ("op_type", "given", "gave"),
    [
        ("Log", (0.0,), -INF), ("Sqrt", (-4.0,), NAN), ("Exp", (89.0,), INF), ("RealDiv", (1.0, 0.0), INF),
        ("Log", (1e-40,), -INF), ("RealDiv", (1e30, 1e-30), INF), ("Mul", (3e38, 3.0), INF), ("Exp", (88.72,), INF),
    ],
)  # fmt: skip
def test_what_an_op_does_give_of_such_numbers_is_not(op_type: str, given: Any, gave: float) -> None:
    inputs = [op(f"x{at}", "Placeholder", value=np.float32([one])) for at, one in enumerate(given)]
    run = made_run(*inputs, op("out", op_type, *(one.name for one in inputs), value=np.float32([gave])))
    assert "optimizer" not in _cause(run).text
