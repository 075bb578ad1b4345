"""What an op read where a cast or a list of tensors stands between it and what both runs computed."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.difference.compared import TensorFate
from tfdbg_cli.analysis.difference.comparison import Comparison, compared_runs
from tfdbg_cli.model.runs import Run

X = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
_NEAR = np.float32(1 + 1e-6)


def _states(found: Comparison) -> dict[str, TensorFate]:
    return {found.runs[0].tensors[one.rows[0]].node: one.state for one in found.verdicts}


def _halved(*, cast: bool, jump: float = 1.0) -> Run:
    """A product of rounding errors of which the second run computes with bfloat16, and says so by a cast."""
    made = X * (_NEAR if cast else 1)
    noise = ((made - X) + np.float32(1e-7)).astype(np.float32)
    between = [op("cast", "Cast", "noise", value=noise.astype(ml_dtypes.bfloat16))] if cast else []
    given = noise.astype(ml_dtypes.bfloat16) if cast else noise
    return made_run(
        op("x", "Placeholder", value=X), op("y", "Tanh", "x", value=made), op("noise", "Sub", "y", "x", value=noise),
        *between,
        op("out", "Neg", "cast" if cast else "noise", value=(-given * np.float32(jump)).astype(given.dtype)),
    )  # fmt: skip


def test_a_cast_to_fewer_digits_that_only_one_run_has_is_seen_through() -> None:
    found = compared_runs(_halved(cast=False), _halved(cast=True))
    assert (
        _states(found)["noise"] is TensorFate.GROWN
        and _states(found)["out"] is TensorFate.GROWN
        and found.first is None
    )


def _listed(*, noise: float, wrong: float = 0.0) -> Run:
    """A loop puts what its turns made into a list; the last is taken out again."""
    items: list[Any] = [(X[turn] * (1 + noise)).astype(np.float32) for turn in range(8)]
    return made_run(
        op("x", "Placeholder", value=X), op("first", "Sin", "x", value=X), op("item", "Tanh", "x", values=items),
        op("list", "TensorListReserve"), op("begun", "TensorListPushBack", "list", "first"),
        op("put", "TensorListPushBack", "begun", "item"),
        op("place", "Const", value=np.int32(7)),
        op("taken", "TensorListGetItem", "put", "place", value=(items[7] + np.float32(wrong)).astype(np.float32)),
        order=["x", "first", *["item"] * 8, "place", "taken"],
    )  # fmt: skip


def test_what_is_taken_out_of_a_list_is_as_far_off_as_what_was_put_there() -> None:
    found = compared_runs(_listed(noise=0), _listed(noise=2e-2))
    assert _states(found)["item"] is TensorFate.NEW and _states(found)["taken"] is TensorFate.FOLLOWS


def test_what_a_list_did_not_hold_is_a_divergence() -> None:
    found = compared_runs(_listed(noise=0), _listed(noise=0, wrong=0.1))
    assert _states(found) == {"taken": TensorFate.NEW}


def _scaled(by: float | None, dtype: Any = np.float32) -> Run:
    """A product, before which the second run alone scales what the first one hands on."""
    made = np.tanh(X).astype(dtype)
    more = (
        []
        if by is None
        else [
            op("by", "Const", value=np.array(by, dtype)),
            op("mul", "Mul", "y", "by", value=(made * dtype(by)).astype(dtype)),
        ]
    )
    given = made if by is None else (made * dtype(by)).astype(dtype)
    weights = np.linspace(-1, 1, 12).reshape(4, 3).astype(np.float32)
    return made_run(
        op("x", "Placeholder", value=X), op("y", "Tanh", "x", value=made), *more,
        op("w", "Const", value=weights),
        op("out", "MatMul", "y" if by is None else "mul", "w", value=(given.astype(np.float32) @ weights)),
    )  # fmt: skip


@pytest.mark.parametrize("by", [1.0004, 1.1, 1.3])
def test_an_op_that_one_run_puts_in_between_is_no_rounding(by: float) -> None:
    found = compared_runs(_scaled(None), _scaled(by))
    assert found.first is not None and found.runs[0].tensors[found.first.rows[0]].node == "out"
    assert compared_runs(_scaled(None), _scaled(1.0)).first is None
    if by > 1.05:  # as far as bfloat16 can tell
        found = compared_runs(_scaled(None), _scaled(by, ml_dtypes.bfloat16))
        assert found.first is not None and found.runs[0].tensors[found.first.rows[0]].node == "out"
    assert compared_runs(_scaled(None), _scaled(1.0, ml_dtypes.bfloat16)).first is None
