"""A training step of a Keras model as a tf.function, made by hand: nested calls, gradients, an optimizer, a loop.

Named as capture names them: the nodes of one_step_on_data, which StatefulPartitionedCall calls, stand under its name,
those of the loop (three turns) under `while/body`. The model has the layers lstm and head. Nobody ran anything.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from support.made_run import NAN, Op, made_run, op
from tfdbg_cli.model.calls import Call, CallArgument, RunKind
from tfdbg_cli.model.graph import Graph, GraphKind
from tfdbg_cli.model.runs import Run, RunStart

STEP = "one_step_on_data"
LOOP = f"{STEP}/model/lstm/while"
BODY = f"{LOOP}/body"

X = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
Y = np.array([[1], [0], [1]], np.float32)
KERNEL = np.ones((2, 1), np.float32)
LOG = np.array([[0], [-np.inf], [NAN]], np.float32)
SEEN = np.stack([X, X * 2, X * 4])


def _ops() -> tuple[Op, ...]:
    inside = f"{STEP}/"
    return (
        op("x", "Placeholder", value=X, dtype="float32"),
        op("y", "Placeholder", value=Y, dtype="float32"),
        op("kernel", "Placeholder", dtype="resource"),
        op("StatefulPartitionedCall", "StatefulPartitionedCall", "x", "y", "kernel", f=f"__inference_{STEP}_1788"),
        op(LOOP, "While", "x"),
        op(f"{BODY}/cell/Mul", "Mul", "x", "x", values=tuple(SEEN)),
        op(f"{BODY}/add", "AddV2", values=(np.int32(1), np.int32(2), np.int32(3))),
        op(f"{BODY}/cell/total", "Sum", f"{BODY}/cell/Mul", values=(0.5, NAN, 2.5)),
        op(f"{inside}model/head/MatMul/ReadVariableOp", "ReadVariableOp", "kernel", value=KERNEL),
        op(
            f"{inside}model/head/MatMul", "MatMul", f"{BODY}/cell/Mul", f"{inside}model/head/MatMul/ReadVariableOp",
            value=SEEN[2] @ KERNEL,
        ),
        op(f"{inside}loss/Log", "Log", f"{inside}model/head/MatMul", value=LOG),
        op(
            f"{inside}gradient_tape/model/head/MatMul/MatMul", "MatMul", f"{inside}loss/Log",
            value=KERNEL,
        ),
        op(f"{inside}adam/rate", "Const", value=0.1),
        op(
            f"{inside}adam/Mul", "Mul", f"{inside}gradient_tape/model/head/MatMul/MatMul", f"{inside}adam/rate",
            value=KERNEL,
        ),
        op(f"{inside}adam/AssignSubVariableOp", "AssignSubVariableOp", "kernel", f"{inside}adam/Mul"),
    )  # fmt: skip


ARGUMENTS = (
    CallArgument("x", "float32", (3, 2)),
    CallArgument("y", "float32", (None, 1)),
    CallArgument("iterator", "resource", None),
    CallArgument("kernel", "float32", (2, 1), captured=True),
)
FEEDS = {"x": X, "y": Y, "iterator": None, "kernel": KERNEL}
NOTES = ("This call traced the function anew: the shape of x changed from [2,2] to [3,2]; called at train.py:12.",)


def step_call(number: int = 3) -> Call:
    returned = (f"{STEP}/loss/Log:0",)
    return Call(number, RunKind.FUNCTION, returned, FEEDS, (), "", NOTES, "train_step", ARGUMENTS)


def step_run() -> Run:
    """The run of the step; its tensors carry no times."""
    ops = _ops()
    turn = [one.name for one in ops if len(one.values) == 3]
    before = [one.name for one in ops[:2]]
    after = [one.name for one in ops[2:] if len(one.values) == 1]
    made = made_run(*ops, order=[*before, *turn * 3, *after], times=False)
    return replace(made, call=step_call())


def step_start() -> RunStart:
    return RunStart(step_call(), Graph(list(step_run().graph), GraphKind.PYTHON))
