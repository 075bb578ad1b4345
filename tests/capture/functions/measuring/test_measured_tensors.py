"""Statistics are read from the vector of a run only if it has the numbers that are expected."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.functions.measuring.measured_tensors import Measured, MeasuredTensors, StatisticsLayout
from tfdbg_cli.model.dtypes import FLOAT
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.values import NoValue


def _tensors(vector: list[float]) -> MeasuredTensors:
    small = Measured(Shown(TensorName("small", 0), "Mul", "", FLOAT), (2,), None, 0, told=True, size=2)
    large = Measured(Shown(TensorName("large", 0), "Mul", "", FLOAT), None, None, 2, told=False)
    return MeasuredTensors(StatisticsLayout([small, large]), np.array(vector))


def test_a_vector_that_fits_tells_all() -> None:
    tensors = _tensors([1, 2, 3, 3, 3, 4.5, 1, 0.5, 1])
    small, large = tensors.summary(0), tensors.summary(1)
    assert small is not None and (small.min, small.max) == (1, 2)
    assert large is not None and (large.size, large.min, large.max) == (1, 3, 3)


def test_a_vector_that_does_not_fit_tells_nothing_and_says_so() -> None:
    for numbers in (8, 10):
        tensors = _tensors([1.0] * numbers)
        assert tensors.summary(0) is None and tensors.summary(1) is None
        value = tensors.value(0)
        assert isinstance(value, NoValue) and "another size" in str(value)
