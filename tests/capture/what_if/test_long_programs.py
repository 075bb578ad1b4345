"""A stepper of a program of many nodes: what a node takes does not grow with how many are known."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from types import FrameType
from typing import Any

from tfdbg_cli.capture.what_if.stepping import NodeStepper, OpStep, StepOutput
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.stepping import StepNode
from tfdbg_cli.model.values import Array, Value


class _Chain:
    """A program in which each of `count` nodes reads the one before it."""

    notes = ()

    def __init__(self, count: int) -> None:
        self.given: Mapping[TensorName, Array] = {}
        self.steps = [self._step(place) for place in range(count)]
        self.told: list[set[TensorName]] = []  # what it heard to be overridden, node by node

    def _step(self, place: int) -> OpStep:
        before = (TensorName(f"n{place - 1}", 0),) if place else ()
        output = StepOutput(TensorName(f"n{place}", 0), "float32", True)
        return OpStep(StepNode(f"n{place}", "Neg", before), "", (output,))

    def compute(
        self, step: OpStep, known: Mapping[TensorName, Array], overridden: Collection[TensorName]
    ) -> Sequence[Array | None]:
        self.told.append(set(overridden))
        return [known.get(TensorName("n0", 0))]

    def array(self, value: Array) -> Value:
        return value

    def value(self, array: Array, dtype: str) -> Array:
        return array

    def restore(self) -> None:
        raise AssertionError("it has no variables")

    def close(self) -> None:
        pass


def _work(count: int) -> int:
    """How many instructions of Python go by while all of a chain is computed."""
    stepper = NodeStepper(_Chain(count))
    done = 0

    def counted(frame: FrameType, event: str, _given: Any) -> Any:
        nonlocal done
        frame.f_trace_opcodes = True
        done += event == "opcode"
        return counted

    before = sys.gettrace()
    sys.settrace(counted)
    try:
        stepper.cont(f"n{count - 1}")
    finally:
        sys.settrace(before)
    return done


def test_twice_the_nodes_take_twice_the_work() -> None:
    """A blind test: 20,000 nodes took 51 s of looking for what was overridden, for one `cont`."""
    assert _work(400) < 2.5 * _work(200)


def test_the_program_hears_of_each_value_that_was_overridden() -> None:
    program = _Chain(4)
    stepper = NodeStepper(program)
    stepper.cont("n1")
    stepper.inject(TensorName("n1", 0), 7.0)
    stepper.cont("n3")
    assert program.told == [set(), set(), {TensorName("n1", 0)}, {TensorName("n1", 0)}]
