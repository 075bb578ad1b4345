"""Ops whose names were counted up, in types of few digits: an op more or another one shifts names, and is found."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.made_run import Op, made_run, op

from tfdbg_cli.analysis.difference.compared import TensorFate
from tfdbg_cli.analysis.difference.comparison import Comparison, compared_runs
from tfdbg_cli.model.runs import Run

RANDOM = np.random.RandomState(0)
X = RANDOM.randn(16, 32)
WEIGHTS = [RANDOM.randn(32, 32) * 0.2 for _ in range(4)]


class _Program:
    """Ops that are called as TensorFlow calls them: by their types, from the second of a type on with a number."""

    def __init__(self, dtype: Any) -> None:
        self.ops: list[Op] = []
        self.values: dict[str, Any] = {}
        self._dtype = dtype
        self._counts: dict[str, int] = {}

    def __call__(self, op_type: str, value: Any, *inputs: str) -> str:
        count = self._counts.get(op_type, 0)
        self._counts[op_type] = count + 1
        name = f"{op_type}_{count}" if count else op_type
        self.values[name] = np.asarray(value).astype(self._dtype)
        self.ops.append(op(name, op_type, *inputs, value=self.values[name]))
        return name


def _layers(dtype: Any, *, changed: str = "", scale: float = 1.0, normalized: bool = True) -> Run:
    """Four layers of MatMul, a mean taken off, and Tanh; the third has another activation, or a gain before it."""
    program = _Program(dtype)
    flow = program("Placeholder", X)
    for at, weight in enumerate(WEIGHTS):
        kernel = program("ReadVariableOp", weight)
        wide = {name: value.astype(np.float32) for name, value in program.values.items()}
        flow = program("MatMul", wide[flow] @ wide[kernel], flow, kernel)
        value = program.values[flow].astype(np.float32)
        if normalized:
            mean = program("Mean", value.mean(-1, keepdims=True), flow)
            value -= program.values[mean].astype(np.float32)
            flow = program("Sub", value, flow, mean)
        if at == 1 and changed == "gain":
            constant = program("Const", scale)
            value = value * scale
            flow = program("Mul", value, flow, constant)
        if at == 2 and changed == "Relu":
            flow = program("Relu", np.maximum(value, 0), flow)
        else:
            flow = program("Tanh", np.tanh(value), flow)
        constant = program("Const", 2.0)
        flow = program("Mul", program.values[flow].astype(np.float32) * 2, flow, constant)
    return made_run(*program.ops, op("out", "Sum", flow, value=program.values[flow].sum(-1)))


def _first(found: Comparison) -> tuple[str, str] | None:
    if found.first is None:
        return None
    names = [run.tensors[row].node for run, row in zip(found.runs, found.first.rows, strict=True)]
    return names[0], names[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("normalized", [True, False])
def test_another_activation_is_found_though_the_names_behind_it_moved(dtype: Any, normalized: bool) -> None:
    one, two = _layers(dtype, normalized=normalized), _layers(dtype, changed="Relu", normalized=normalized)
    found = compared_runs(one, two)
    assert _first(found) == ("Tanh_2", "Relu") and not found.same
    assert ("Tanh_3", "Tanh_2") in found.pairs.nodes and not found.pairs.only_first
    back = compared_runs(two, one)
    assert _first(back) == ("Relu", "Tanh_2") and not back.same


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_a_gain_more_is_found_at_what_reads_it(dtype: Any) -> None:
    found = compared_runs(_layers(dtype), _layers(dtype, changed="gain", scale=1.5))
    assert _first(found) == ("Tanh_1", "Tanh_1")
    assert ("Mul_1", "Mul_2") in found.pairs.nodes and ("Mul_3", "Mul_4") in found.pairs.nodes
    assert [str(found.runs[1].tensors[row].name) for row in found.pairs.only_second] == ["Const_1:0", "Mul_1:0"]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_a_tensor_that_is_off_by_most_of_itself_is_no_rounding(dtype: Any) -> None:
    """Whatever the op and its inputs: here a product of which coarse types would explain anything."""

    def run(noise: float, wrong: float) -> Run:
        given = (X * (1 + noise)).astype(dtype)
        return made_run(
            op("x", "Placeholder", value=X.astype(dtype)), op("a", "Foo", "x", value=given),
            op("b", "Bar", "a", value=(np.roll(X, 1, 0) * wrong + X * (1 - wrong)).astype(dtype)),
        )  # fmt: skip

    close = compared_runs(run(0.0, 0.0), run(float(ml_dtypes.finfo(dtype).eps) * 8, 0.0))
    assert close.first is None
    assert _first(compared_runs(run(0.0, 0.0), run(float(ml_dtypes.finfo(dtype).eps) * 8, 1.0))) == ("b", "b")


def test_what_cancels_leaves_rounding_though_it_is_all_there_is() -> None:
    def run(noise: float) -> Run:
        near = np.linspace(1.0, 2.0, 64).astype(np.float32)
        near = np.where(np.arange(64) % 2, near, near * np.float32(1 + noise)).astype(np.float32)
        left = (near - np.linspace(1.0, 2.0, 64).astype(np.float32)) + np.float32(1e-9)
        return made_run(
            op("x", "Exp", value=near), op("y", "Const", value=np.linspace(1.0, 2.0, 64).astype(np.float32)),
            op("left", "Sub", "x", "y", value=left), op("two", "Const", value=np.float32(2)),
            op("doubled", "Mul", "left", "two", value=left * 2),
        )  # fmt: skip

    found = compared_runs(run(0.0), run(2.4e-7))
    assert found.first is None and found.same
    assert {one.state for one in found.verdicts} == {TensorFate.ROUNDED, TensorFate.GROWN}
