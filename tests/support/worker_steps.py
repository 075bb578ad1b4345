"""A step of one worker among several, made without TensorFlow: a gradient is reduced over all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from support.made_run import made_run, op
from tfdbg_cli.model.runs import Opened, Run


def worker_step(
    worker: str,
    batch: float,
    *,
    reduced: float = 6.0,
    weight: float = 1.0,
    after: float | None = None,
    scale: float = 2.0,
) -> Run:
    """A training step: a gradient is reduced over the workers and updates `w`; `count` counts losses.

    `reduced` is what the collective gave, None as `after` lets the update follow from it, `scale` a constant.
    """
    gradient = np.float32([batch * weight, batch])
    total = np.float32([reduced, reduced])
    scaled = total * np.float32(scale)
    updated = np.float32([weight, weight]) - scaled if after is None else np.float32([after, after])
    run = made_run(
        op("x", "Placeholder", value=np.float32([batch, 1])),
        op("w/read", "ReadVariableOp", "w", value=np.float32([weight, weight])),
        op("mul", "Mul", "x", "w/read", value=np.float32([batch * weight, weight])),
        op("loss", "Sum", "mul", value=np.float32(batch * weight + weight)),
        op("gradient_tape/mul", "Mul", "x", "mul", value=gradient),
        op("reduce", "CollectiveReduceV2", "gradient_tape/mul", value=total),
        op("two", "Const", value=np.float32(scale)),
        op("scaled", "Mul", "reduce", "two", value=scaled),
        op("w/after_update", "UpdatedVariable", "w", "scaled", value=updated),
        op("count/after_update", "UpdatedVariable", "count", "loss", value=np.float32(batch)),
        op("w", "VarHandleOp"),
        op("count", "VarHandleOp"),
    )
    return replace(run, call=replace(run.call, worker=worker))


def opened_job(after: float | None = None) -> Opened:
    """A step of two workers; `after` is what the second one's weight became, where that is not what it should be."""
    steps = [worker_step("chief0", 1.0), worker_step("worker1", 5.0, after=after)]
    return Opened("/shared/runs", steps, workers=("chief0", "worker1"))
