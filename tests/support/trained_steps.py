"""Steps of a training, kept before a stop, of which `trends` has norms to tell."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from support.made_run import NAN, made_run, op
from tfdbg_cli.model.runs import Hit, Run, RunEnd


def training_step(number: int, weight: Any, gradient: Any, after: Any, function: str = "train_step") -> Run:
    """A training step of a layer `dense` with one variable, a metric beside it, and a slot of the optimizer."""
    run = made_run(
        op("x", "Placeholder", value=np.ones((1, 1))),
        op("k", "VarHandleOp"),
        op("total", "VarHandleOp"),
        op("slot", "VarHandleOp"),
        op("dense/MatMul/ReadVariableOp", "ReadVariableOp", "k", value=np.array(weight)),
        op("dense/MatMul", "MatMul", "x", "dense/MatMul/ReadVariableOp", value=np.ones((1, 2))),
        op("loss", "Mean", "dense/MatMul", value=1.0),
        op("metric/ReadVariableOp", "ReadVariableOp", "total", value=np.array(float(number))),
        op("gradient_tape/dense/MatMul", "MatMul", "dense/MatMul", value=np.array(gradient)),
        op("gradient_tape/dense/shape", "BroadcastGradientArgs", "dense/MatMul", value=np.array([0], np.int32)),
        op("adam/ReadVariableOp", "ReadVariableOp", "slot", value=np.ones(2)),
        op("adam/Sub", "Sub", "adam/ReadVariableOp", "gradient_tape/dense/MatMul", value=np.ones(2)),
        op("adam/Assign", "AssignSubVariableOp", "k", "adam/Sub"),
        op("adam/AssignSlot", "AssignVariableOp", "slot", "adam/Sub"),
        op("metric/Assign", "AssignAddVariableOp", "total", "metric/ReadVariableOp"),
        op("dense/kernel/after_update", "UpdatedVariable", "k", value=np.array(after)),
        op("metric/total/after_update", "UpdatedVariable", "total", value=np.array(number + 1.0)),
        op("adam/slot/after_update", "UpdatedVariable", "slot", value=np.ones(2)),
    )
    return dataclasses.replace(run, call=dataclasses.replace(run.call, number=number, function=function))


def trained_steps() -> RunEnd:
    """The stop at a step whose gradient is NaN, three earlier runs kept, one of them of another function."""
    earlier = [
        training_step(5, [3.0, 4.0], [0.3, 0.4], [3.0, 3.0]),
        training_step(6, [9.0, 9.0], [9.0, 9.0], [9.0, 9.0], function="eval_step"),
        training_step(7, [3.0, 3.0], [30.0, 40.0], [-3.0, -5.0]),
    ]
    return RunEnd(training_step(8, [-3.0, -5.0], [NAN, 0.0], [NAN, -5.0]), Hit("has_inf_or_nan", "", 8, 7), earlier)
