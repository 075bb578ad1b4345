"""A product that its factors, as they are shown, do not give: TensorFlow's optimizer moved a constant through it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.made_run import INF, NAN, made_run, op

from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Run

UP, LARGE = np.array([0.0, 1.0], np.float32), np.array([2e36, 2.0], np.float32)


def _run(bad: Any, *, factor: Any = 1000.0, large: Any = LARGE, through: str = "Identity") -> Run:
    """`up * large * factor`, of which the first element is `bad`."""
    first = UP * large
    return made_run(
        op("up", "Placeholder", value=UP), op("e", "Placeholder", value=large),
        op("large", through, "e", value=large),
        op("first", "Mul", "up", "large", value=first), op("factor", "Const", value=np.float32(factor)),
        op("product", "Mul", "first", "factor", value=np.array([bad, 2.0 * factor], np.float32)),
    )  # fmt: skip


def _cause(run: Run) -> Cause:
    origin = OriginSearch(run).first()
    assert origin is not None and origin.name.node == "product"
    return origin.cause


@pytest.mark.parametrize(("bad", "told"), [(NAN, "NaN"), (INF, "an infinity")])
@pytest.mark.parametrize("through", ["Identity", "Neg", "Cast"])
def test_the_factor_that_overflows_with_the_constant_is_named(bad: float, told: str, through: str) -> None:
    cause = _cause(_run(bad, through=through))
    assert cause.text.startswith(
        f"Mul gave {told}, which first:0 * factor:0, as they are shown, is not: TensorFlow's"
    )
    assert "large:0 * 1000 exceeds 3.4e+38, the largest float32." in cause.text
    assert cause.suggestion.startswith("Keep large:0 in range") and '"constant_folding": False' in cause.suggestion


def test_constants_that_are_multiplied_first_may_overflow_themselves() -> None:
    constants = [op(name, "Const", value=np.float32(1e30)) for name in ("a", "b")]
    run = made_run(
        op("up", "Placeholder", value=UP), *constants, op("first", "Mul", "up", "a", value=UP * np.float32(1e30)),
        op("product", "Mul", "first", "b", value=np.array([NAN, INF], np.float32)),
    )  # fmt: skip
    overflow = _cause(run)
    assert "another order" not in overflow.text, "the second element is too large in any order"
    first = made_run(
        op("up", "Placeholder", value=UP[:1]), *constants, op("first", "Mul", "up", "a", value=UP[:1]),
        op("product", "Mul", "first", "b", value=np.array([NAN], np.float32)),
    )  # fmt: skip
    assert "the constant a:0 * 1e+30 exceeds 3.4e+38" in _cause(first).text


def test_no_factor_is_named_where_no_constant_explains_it() -> None:
    for run in (_run(NAN, factor=2.0), _run(NAN, large=np.array([2e30, 2.0], np.float32))):
        assert _cause(run).text == (
            "Mul gave NaN at 1 element, which it does not give of first:0 and factor:0 as shown: TensorFlow's"
            " optimizer computed it in another order than the program."
        )


def test_eager_code_is_not_optimized() -> None:
    run = _run(NAN)
    eager = replace(run, call=replace(run.call, kind=RunKind.EAGER))
    assert "another order" not in _cause(eager).text
