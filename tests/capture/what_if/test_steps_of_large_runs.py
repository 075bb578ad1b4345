"""Going on over very many nodes: each is looked at for its own sake."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from support.ending import ends

from tfdbg_cli.capture.what_if.stepping import NodeStepper, OpStep, StepOutput
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.stepping import StepNode
from tfdbg_cli.model.values import Array

_NODES = 40_000  # took minutes where each step walked over all that was known


@dataclass
class _Chain:
    """A program whose nodes each add 1 to what the one before gives."""

    steps: Sequence[OpStep]
    notes: tuple[str, ...] = ()
    given: Mapping[TensorName, Array] = field(default_factory=dict)
    told: list[frozenset[TensorName]] = field(default_factory=list)

    def compute(
        self, step: OpStep, known: Mapping[TensorName, Array], overridden: Collection[TensorName]
    ) -> Sequence[Array]:
        self.told.append(frozenset(overridden))
        return [np.asarray(sum(int(known[name]) for name in step.node.inputs) + 1)]

    def array(self, value: Array) -> Array:
        return value

    def value(self, array: Array, dtype: str) -> Array:
        return array

    def restore(self) -> None: ...

    def close(self) -> None: ...


def _chain(count: int) -> _Chain:
    names = [TensorName(f"n{index}", 0) for index in range(count)]
    read = [(), *((before,) for before, _ in pairwise(names))]
    nodes = [StepNode(name.node, "AddV2", inputs) for name, inputs in zip(names, read, strict=True)]
    outputs = [(StepOutput(name, "int64", True),) for name in names]
    return _Chain([OpStep(node, "", given) for node, given in zip(nodes, outputs, strict=True)])


def test_a_node_far_behind_is_reached() -> None:
    stepper = NodeStepper(_chain(_NODES))
    with ends("going on over many nodes"):
        stepper.cont(f"n{_NODES - 1}")
    (row,) = stepper.tensors.named(f"n{_NODES - 1}", 0)
    assert stepper.tensors.value(row) == _NODES


def test_a_program_is_told_which_values_a_user_gave() -> None:
    chain = _chain(6)
    stepper = NodeStepper(chain)
    stepper.cont("n2")
    stepper.inject(TensorName("n1", 0), np.asarray(10))
    stepper.inject(TensorName("n3", 0), np.asarray(20))
    stepper.cont("n2")
    stepper.cont("n5", invalidate=True)
    given = frozenset({TensorName("n1", 0), TensorName("n3", 0)})
    assert chain.told == [frozenset()] * 3 + [given] * 3  # n2, then n4 and n5
    (row,) = stepper.tensors.named("n5", 0)
    assert stepper.tensors.value(row) == 22
