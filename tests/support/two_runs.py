"""Two runs of one program, the second with another weight and a layer called otherwise, made without TensorFlow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from support.made_run import made_run, op
from support.saved_sources import SavedSources
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.sources import Frame

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
W = np.linspace(0.1, 1.2, 6, dtype=np.float32).reshape(3, 2)
_LINES = {"kernel": 3, "MatMul": 4, "Add": 4, "act": 5, "loss": 6}


def _run(scope: str, file: str, *, power: int, noise: float = 0.0, extra: bool = False) -> Run:
    made = (X @ W * np.float32(1 + noise)).astype(np.float32)
    shifted = made + np.float32(0.5)
    act = (np.tanh(shifted) ** power).astype(np.float32)
    ops = [
        op("x", "Placeholder", value=X), op(f"{scope}/kernel", "ReadVariableOp", value=W),
        op(f"{scope}/MatMul", "MatMul", "x", f"{scope}/kernel", value=made),
        op("half", "Const", value=np.float32(0.5)),
        op(f"{scope}/Add", "AddV2", f"{scope}/MatMul", "half", value=shifted),
        op(f"{scope}/act", "Tanh" if power == 1 else "Square", f"{scope}/Add", value=act),
        op("loss", "Sum", f"{scope}/act", value=act.sum()),
    ]  # fmt: skip
    if extra:
        ops.append(op("extra", "Exp", "loss", value=np.exp(act.sum())))
    text = "import keras\n\nw = model.weights[0]\nh = x @ w + 0.5\nh = activation(h)\nloss = sum(h)\n"
    frames = {
        one.name: (Frame(file, _LINES[one.name.rpartition("/")[2]], "train", ""),)
        for one in ops
        if one.name.rpartition("/")[2] in _LINES
    }
    run = replace(made_run(*ops), tracebacks=frames, sources=SavedSources({file: text}))
    return replace(run, call=replace(run.call, fetches=("loss:0",)))


def before() -> Run:
    """The run of the old program."""
    return _run("dense", "/home/ada/old.py", power=1)


def after() -> Run:
    """The run of the new one, which takes a square where the old one had a tanh, and rounds otherwise."""
    return _run("dense_1", "/home/ada/new.py", power=2, noise=1e-7, extra=True)


def both() -> Opened:
    """A recording of both."""
    return Opened("/data/runs", [before(), after()])
