"""A stepper over the sample run, computing with NumPy, for tests of everything above the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from support.sample_run import W, X, Y
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.stepping import From, Letter, StepNode, Stepped
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.model.values import Array


def _name(text: str) -> TensorName:
    return TensorName(text, 0)


_READS = {
    "x": (), "w": (), "y": (), "w/read": ("w",), "dense/MatMul": ("x", "w/read"), "prob": ("dense/MatMul",),
    "loss/Log": ("prob",), "loss/mul": ("y", "loss/Log"), "loss/Mean": ("loss/mul",), "train": ("w", "loss/mul"),
}  # fmt: skip
_OPS = {
    "x": "Placeholder", "w": "VariableV2", "y": "Placeholder", "w/read": "Identity", "dense/MatMul": "MatMul",
    "prob": "Relu", "loss/Log": "Log", "loss/mul": "Mul", "loss/Mean": "Mean", "train": "AssignSub",
}  # fmt: skip


class SampleStepper:
    """The sample run made node by node."""

    notes = ("The random numbers of noise are drawn here once; the run draws others.",)

    def __init__(self) -> None:
        self.nodes: Sequence[StepNode] = [
            StepNode(name, op, tuple(map(_name, _READS[name]))) for name, op in _OPS.items()
        ]
        self.next = 0
        self.closed = False
        self._values: dict[str, Any] = {"x": X, "y": Y, "w": W}
        self._letters: dict[str, set[Letter]] = {
            "x": {Letter.P},
            "y": {Letter.P},
            "w": {Letter.U},
            "train": {Letter.U},
        }

    @property
    def tensors(self) -> MemoryTensorStore:
        values = {name: value for name, value in self._values.items() if name not in {"w", "train"}}
        described = [
            describe(_name(name), value, device="", op_type=_OPS[name], dtype="float32")
            for name, value in values.items()
        ]
        return MemoryTensorStore(described, list(values.values()))

    def letters(self, node: str) -> frozenset[Letter]:
        return frozenset(self._letters.get(node, ()))

    def step(self) -> Stepped:
        return self.cont(self.nodes[self.next].name)

    def cont(self, target: str, *, invalidate: bool = False, restore: bool = False) -> Stepped:
        computed: list[str] = []
        self._compute(target, computed)
        for name in computed:
            self._letters.setdefault(name, set()).add(Letter.H if name == target else Letter.I)
        self.next = list(_OPS).index(target) + 1
        used: Mapping[TensorName, From] = {_name(name): From.GIVEN for name in _READS[target] if name in "xy"}
        if target == "train":
            self._letters["w"].add(Letter.D)
        updated = ("w",) if target == "train" else ()
        return Stepped(target, tuple(computed), used, updated, (_name(target),))

    def _compute(self, name: str, computed: list[str]) -> None:
        if name in self._values:
            return
        for read in _READS[name]:
            self._compute(read, computed)
        given = [self._values[read] for read in _READS[name]]
        with np.errstate(all="ignore"):
            self._values[name] = {
                "w/read": lambda: given[0],
                "dense/MatMul": lambda: given[0] @ given[1],
                "prob": lambda: np.maximum(given[0], 0),
                "loss/Log": lambda: np.log(given[0]),
                "loss/mul": lambda: given[0] * given[1],
                "loss/Mean": lambda: np.asarray(given[0].mean()),
                "train": lambda: given[0],
            }[name]()
        computed.append(name)

    def inject(self, name: TensorName, value: Array) -> tuple[str, ...]:
        written = ("w",) if "train" in self._values else ()
        self._values = {known: old for known, old in self._values.items() if known in {"x", "y", "w"}}
        self._values[name.node] = value
        self._letters.setdefault(name.node, set()).add(Letter.O)
        return written

    def dtype(self, name: TensorName) -> str:
        return "float32"

    def held(self, variable: str) -> Array | None:
        return self._values["w"] if variable == "w" else None

    def assign(self, variable: str, value: Array) -> tuple[str, ...]:
        self._values = {known: old for known, old in self._values.items() if known in {"x", "y"}}
        self._values[variable] = value
        return ()

    def close(self) -> None:
        self.closed = True


class SampleSteppable:
    """A run that is made by a SampleStepper."""

    def __init__(self) -> None:
        self.made = SampleStepper()

    def stepper(self) -> SampleStepper:
        return self.made
