"""What came before the origin and left the outcome finite: whether that depends on it."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import INF, made_run, op
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
    told = "nothing that comes out is bad by it, but depends on it" if used else "touches nothing"
    assert f"Before    1 tensor before it is not finite too, and {told}: origin --all" in shown
