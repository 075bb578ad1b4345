"""What is said where a user asks for `x` or `y`, by which Keras calls the parts of a batch."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import made_run, op
from support.prompt import ask

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Run

X, Y = np.ones([4, 2], np.float32), np.zeros([4, 1], np.float32)


def _run(inner: str) -> Run:
    """A step of training that was given a batch; ops within two layers are called `inner`."""
    return made_run(
        op("kernel", "VarHandleOp"),
        op("data", "Placeholder"),
        op("data_1", "Placeholder"),
        op("read", "ReadVariableOp", "kernel", value=np.ones([2, 1], np.float32)),
        op("dense/MatMul", "MatMul", "data", "read", value=np.ones([4, 1], np.float32)),
        op(f"mul/{inner}", "Const", value=1.0),
        op(f"add/{inner}", "Const", value=1.0),
        op("loss", "SquaredDifference", "dense/MatMul", "data_1", value=np.ones([4, 1], np.float32)),
        feeds={"data": X, "data_1": Y},
    )


@pytest.mark.parametrize("inner", ["x", "y", "z"])
@pytest.mark.parametrize(
    ("asked", "said"),
    [("x", "the inputs (x) are data."), ("y", "the targets (y) are data_1."), ("z", "")],
)
def test_what_is_no_name_of_a_tensor_or_ends_several_may_be_a_part_of_the_batch(
    inner: str, asked: str, said: str
) -> None:
    """A blind test: of `set x[5] 0` at a step of `fit` it was said that x fits 26 tensors, and not which it is."""
    with pytest.raises(TfdbgError) as caught:
        ask(f"pt {asked}", _run(inner))
    fits = f"{asked} fits 2 tensors." if inner == asked else f"There is no tensor {asked!r} in this run."
    assert caught.value.message == fits
    assert (caught.value.hint == f"In the batch of this run {said}") == bool(said), caught.value.hint
