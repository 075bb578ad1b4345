"""A stop with runs kept before it, made by hand."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Hit, Run, RunEnd
from tfdbg_cli.model.tensors import MemoryTensorStore, describe


def step_run(number: int, *losses: float, function: str = "train_step", name: str = "step/loss") -> Run:
    """A run of `function` whose loss was computed once for each of `losses`."""
    values = [np.array([loss, 1.0], np.float32) for loss in losses]
    tensors = [
        describe(TensorName(name, 0), value, device="CPU:0", op_type="Mean", dtype="float32", execution=i)
        for i, value in enumerate(values)
    ]
    return Run(Call(number, RunKind.FUNCTION, ("Identity:0",), function=function), MemoryTensorStore(tensors, values))


def kept() -> RunEnd:
    """Five training steps, an evaluation among them, and the step in which the loss became NaN."""
    earlier = [
        step_run(395, 0.5),
        step_run(396, 40.0),
        step_run(397, 7.0, function="eval_step"),
        step_run(398, 30_000.0),
        step_run(399, np.inf),
    ]
    return RunEnd(step_run(400, np.nan), Hit("has_inf_or_nan", "", 400, 399), earlier, ("Bundle: /data/case",))
