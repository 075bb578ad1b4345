"""Where inputs that only round make outputs as far apart as the numbers themselves: the same function of both."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.made_run import made_run, op

from tfdbg_cli.analysis.difference.compared import TensorFate
from tfdbg_cli.analysis.difference.comparison import Comparison, compared_runs
from tfdbg_cli.analysis.difference.same_function import is_same_function
from tfdbg_cli.model.runs import Run

_BFLOAT16 = ml_dtypes.bfloat16


def _moments(noise: Any, *, wrong: float = 1.0) -> Run:
    """Adam's step: the mean gradient by the root of its square, where the gradient is almost 0 in some elements."""
    x = np.linspace(1, 2, 64).astype(np.float32) * np.float32(1 + 1e-7 * np.sign(noise[0]))
    gradient = np.where(np.arange(64) < 8, noise.astype(np.float32), x)
    root = np.sqrt(np.square(gradient))
    shifted = root + np.float32(1e-7)
    return made_run(
        op("x", "Placeholder", value=np.ones(64, np.float32)), op("scaled", "Foo", "x", value=x),
        op("gradient", "Sub", "scaled", "x", value=gradient),
        op("square", "Square", "gradient", value=np.square(gradient)), op("root", "Sqrt", "square", value=root),
        op("eps", "Const", value=np.float32(1e-7)), op("shifted", "AddV2", "root", "eps", value=shifted),
        op("step", "RealDiv", "gradient", "shifted", value=gradient / shifted * np.float32(wrong)),
    )  # fmt: skip


def _states(found: Comparison) -> dict[str, TensorFate]:
    return {found.runs[0].tensors[one.rows[0]].node: one.state for one in found.verdicts}


def test_the_sign_of_a_gradient_of_almost_0_is_rounding() -> None:
    noise = 1e-6 * np.array([1, -1] * 32)
    found = compared_runs(_moments(noise), _moments(-noise))
    assert _states(found)["step"] is TensorFate.GROWN and found.first is None


def test_another_function_of_the_same_inputs_is_none() -> None:
    noise = 1e-6 * np.array([1, -1] * 32)
    assert _states(compared_runs(_moments(noise), _moments(-noise, wrong=1.01)))["step"] is TensorFate.NEW


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    which=st.sampled_from(["RealDiv", "Mul", "Sub", "AddV2", "MatMul", "Sum", "Mean", "BiasAddGrad"]),
    dtype=st.sampled_from([np.float32, np.float16, _BFLOAT16]),
    off=st.floats(1e-3, 10),
)
def test_what_the_op_gives_of_its_inputs_is_the_same_function_and_what_it_does_not_is_none(
    seed: int, which: str, dtype: Any, off: float
) -> None:
    random = np.random.default_rng(seed)
    one, two = (random.normal(size=(4, 4)).astype(dtype) for _ in range(2))
    wide = one.astype(np.float64), two.astype(np.float64)
    other: Any = two
    names = ("a", "b") if which != "BiasAddGrad" else ("a",)
    if which == "BiasAddGrad":
        made = wide[0].sum(0)
    elif which in ("Sum", "Mean"):
        other = np.array([1], np.int32)
        made = wide[0].sum(1) if which == "Sum" else wide[0].mean(1)
    elif which == "MatMul":
        made = wide[0] @ wide[1]
    else:
        made = {"RealDiv": np.divide, "Mul": np.multiply, "Sub": np.subtract, "AddV2": np.add}[which](*wide)

    def told(value: Any) -> bool:
        run = made_run(op("a", "Foo", value=one), op("b", "Foo", value=other), op("out", which, *names, value=value))
        row = {run.tensors[at].node: at for at in range(len(run.tensors))}
        node = run.graph.find("out")
        assert node is not None
        stores = run.tensors, run.tensors
        pairs = [(row[name], row[name]) for name in names]
        return is_same_function((node, node), stores, (row["out"], row["out"]), pairs)

    with np.errstate(over="ignore"):
        assert told(made.astype(dtype))
        largest = np.abs(wide[0]).sum() * (np.abs(wide[1]).sum() + 1)
        assert not told((made + off * (1 + largest + np.abs(made).max())).astype(np.float32))


def test_a_product_of_the_other_way_round_is_another_function() -> None:
    one, two = np.arange(16, dtype=np.float32).reshape(4, 4), np.triu(np.ones((4, 4), np.float32))

    def run(**attributes: str) -> Run:
        made = one @ (two.T if attributes else two)
        return made_run(
            op("a", "Foo", value=one),
            op("b", "Foo", value=two),
            op("out", "MatMul", "a", "b", value=made, **attributes),
        )

    runs = run(), run(transpose_b="true")
    first, second = (one.graph.find("out") for one in runs)
    assert first is not None and second is not None
    pairs = [(0, 0), (1, 1)]
    assert is_same_function((first, first), (runs[0].tensors, runs[0].tensors), (2, 2), pairs)
    assert not is_same_function((first, second), (runs[0].tensors, runs[1].tensors), (2, 2), pairs)
