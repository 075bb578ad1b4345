"""A program that stands behind an op of the sample run, as a breakpoint would stop it there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from support.sample_run import run_end
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.sources import Frame


class Behind:
    """The program stands behind loss/Log, and knows the variable w."""

    node, why, variables = "loss/Log", "breakpoint 1 (Log)", ("w",)

    def __init__(self, value: Any) -> None:
        self.given: dict[TensorName, Any] = {}
        self.values = {"loss/Log:0": value, "w:0": np.ones(2, np.float32)}

    def value(self, name: TensorName) -> Any:
        if str(name) not in self.values:
            raise TfdbgError(f"The program holds {name} already.")
        return self.values[str(name)]

    def replace(self, name: TensorName, value: Any) -> None:
        self.value(name)
        self.given.setdefault(name, self.values[str(name)])
        self.values[str(name)] = value

    @property
    def pending(self) -> tuple[TensorName, ...]:
        return tuple(name for name in self.given if name.node == self.node)

    @property
    def written(self) -> Mapping[TensorName, Any]:
        return {name: value for name, value in self.given.items() if name.node in self.variables}

    def take_back(self, name: TensorName) -> None:
        self.values[str(name)] = self.given.pop(name)


def paused() -> tuple[RunEnd, Behind]:
    """The stop, and the program behind it."""
    end = run_end()
    store = end.run.tensors
    behind = Behind(store.value(store.named("loss/Log", 0)[0]))
    frames = (LiveFrame(Frame("/home/me/train.py", 12, "main", "loss = log(prob)"), {"step": 3}, {}),)
    return replace(end, run=replace(end.run, frames=frames, paused=behind, unfinished=True)), behind
