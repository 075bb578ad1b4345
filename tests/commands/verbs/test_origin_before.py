"""What came before the origin and left the outcome finite: whether that depends on it."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import INF, NAN, made_run, op
from support.prompt import Prompt


@pytest.mark.parametrize("used", [True, False])
def test_an_infinity_that_was_divided_by_is_not_said_to_touch_nothing(used: bool) -> None:
    """x / inf is 0: finite, and not what x was."""
    x = np.array([1e30, 2.0], np.float32)
    share = np.array([0.0, 0.5], np.float32) if used else x
    made = made_run(
        op("x", "Placeholder", value=x), op("square", "Square", "x", value=np.array([INF, 4], np.float32)),
        op("share", "RealDiv", "x", "square" if used else "x", value=share), op("zero", "Const", value=np.float32(0)),
        op("log", "Log", "zero", value=np.float32(-INF)),
        op("loss", "AddV2", "share", "log", value=share - np.float32(INF)),
        feeds={"x:0": x},
    )  # fmt: skip
    shown = Prompt(made, width=140).show("origin", 140)
    assert "Origin    log:0" in shown
    told = ". No result is NaN or infinite by it, but results depend on it" if used else ", and touches nothing"
    assert f"Before    1 tensor before it is not finite too{told}: origin --all" in shown


@pytest.mark.parametrize("before", [1, 2])
def test_an_infinity_from_which_the_origin_was_computed_is_named(before: int) -> None:
    """A blind test: a density was 0 as something before it was infinite, and only that it is 0 was told."""
    x, zero = np.float32(1e30), np.float32(0)
    made = made_run(
        op("x", "Placeholder", value=x), op("distance", "Square", "x", value=np.float32(INF)),
        *([op("more", "Square", "x", value=np.float32(INF))] if before > 1 else []),
        op("density", "RealDiv", "x", "distance", value=zero), op("total", "Const", value=zero),
        op("loss", "RealDiv", "density", "total", value=np.float32(NAN)),
        feeds={"x:0": x},
    )  # fmt: skip
    shown = Prompt(made, width=140).show("origin", 140)
    assert "Origin    loss:0" in shown
    more = "" if before == 1 else "2 tensors before it are not finite too: "
    assert f"Before    {more}distance:0 is infinite, and loss:0 was computed from it: origin --all" in shown
