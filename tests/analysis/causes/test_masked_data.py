"""Bad data that a tf.where hides from the result, and not from the gradient."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import INF, NAN, made_run, op
from support.prompt import json_of

from tfdbg_cli.model.values import Lack, NoValue

PATHS = np.array([[0.0, -INF]], np.float32)


@pytest.mark.parametrize("hidden", [True, False])
def test_the_where_that_hides_data_is_one_that_they_get_to(hidden: bool) -> None:
    """A blind test: a ReLU made 0 of NaN, and a tf.where that took -inf out of a table was said to hide it."""
    bad = np.array([[1.0, NAN]], np.float32)
    run = made_run(
        op("x", "Placeholder", value=bad), op("paths", "Const", value=PATHS),
        op("is", "IsFinite", "paths", value=PATHS == 0), op("zeros", "Const", value=np.zeros((1, 2), np.float32)),
        op("clean", "SelectV2", "is", "x" if hidden else "paths", "zeros", value=np.zeros((1, 2), np.float32)),
        op("relu", "Relu", "x", value=np.array([[1.0, 0.0]], np.float32)),
        op("gradient_tape/Conv2DBackpropFilter", "Conv2DBackpropFilter", "x", value=bad),
        feeds={"x:0": bad},
    )  # fmt: skip
    data = json_of("origin", run)
    assert data["tensor"] == "x:0"
    assert ("clean, a tf.where" in data["cause"]) == hidden


@pytest.mark.parametrize("handed_on", [True, False])
def test_a_result_that_is_handed_on_in_an_optional_is_not_hidden(handed_on: bool) -> None:
    """A blind test: the loss of a train_step was NaN, and a tf.where of tf.reduce_logsumexp was said to hide it."""
    bad = np.array([[1.0, NAN]], np.float32)
    packed = op("optional", "OptionalFromValue", "loss", value=NoValue(Lack.GONE, "A handle."))
    run = made_run(
        op("x", "Placeholder", value=bad), op("max", "Max", "x", value=np.float32(NAN)),
        op("is", "IsFinite", "max", value=np.bool_(False)), op("zero", "Const", value=np.float32(0)),
        op("chosen", "SelectV2", "is", "max", "zero", value=np.float32(0)),
        *((op("loss", "Sum", "x", value=np.float32(NAN)), packed) if handed_on else ()),
        op("gradient_tape/Mul", "Mul", "x", "chosen", value=bad),
        feeds={"x:0": bad},
    )  # fmt: skip
    assert ("chosen, a tf.where" in json_of("origin", run)["cause"]) is not handed_on


def test_a_where_of_the_optimizer_hides_no_data() -> None:
    """A blind test: a ReLU made 0 of NaN, and the Select of clip_by_norm behind the gradient was said to hide it."""
    bad = np.array([[1.0, NAN]], np.float32)
    run = made_run(
        op("x", "Placeholder", value=bad), op("relu", "Relu", "x", value=np.array([[1.0, 0.0]], np.float32)),
        op("gradient_tape/MatMul", "MatMul", "x", "relu", value=bad),
        op("sgd/clip_by_norm/Sum", "Sum", "gradient_tape/MatMul", value=np.float32(NAN)),
        op("sgd/clip_by_norm/Greater", "Greater", "sgd/clip_by_norm/Sum", value=np.bool_(False)),
        op("sgd/clip_by_norm/ones", "Const", value=np.float32(1)),
        op("sgd/clip_by_norm/Select", "SelectV2", "sgd/clip_by_norm/Greater", "sgd/clip_by_norm/Sum",
           "sgd/clip_by_norm/ones", value=np.float32(1)),
        feeds={"x:0": bad},
    )  # fmt: skip
    assert "a tf.where" not in json_of("origin", run)["cause"]
