"""A division by 0 in a schedule that the program wrote is not one of the optimizer that calls it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import NAN, made_run, op

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.sources import Frame

_USER = Frame("/home/me/train.py", 12, "main", "model.fit(x, y)")
_ADAM = Frame("/usr/lib/python3.11/site-packages/keras/src/optimizers/adam.py", 80, "update_step", "m / (v + eps)")
_SCHEDULE = Frame("/home/me/schedule.py", 3, "__call__", "return 0.1 * s / s")


@pytest.mark.parametrize(("frames", "of_optimizer"), [((_USER, _ADAM), True), ((_USER, _ADAM, _SCHEDULE), False)])
def test_whose_division_it_is(frames: tuple[Frame, ...], of_optimizer: bool) -> None:
    zero = np.zeros(3, np.float32)
    made = made_run(
        op("a", "Foo", value=zero), op("b", "Foo", value=zero),
        op("adam/truediv", "RealDiv", "a", "b", value=np.full(3, NAN, np.float32)),
    )  # fmt: skip
    origin = OriginSearch(replace(made, tracebacks={"adam/truediv": frames})).first()
    assert origin is not None and origin.cause is not None
    assert ("in the optimizer" in origin.cause.text) == of_optimizer
    assert of_optimizer or origin.cause.text.startswith("0 / 0")
