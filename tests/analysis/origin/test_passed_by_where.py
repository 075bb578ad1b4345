"""Of a tensor that a tf.where masks, what is chosen of it alone is to blame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.made_run import INF, Op, made_run, op
from support.prompt import Prompt

from tfdbg_cli.analysis.origin.search import OriginSearch

WIDTHS = np.array([[0.0, 0.5], [0.0, 0.0], [0.3, 0.0]], np.float32)
LOGS = np.where(WIDTHS > 0, np.log(np.where(WIDTHS > 0, WIDTHS, 1)), -INF).astype(np.float32)


def _places(
    condition: Any, *, flipped: bool = False, more: tuple[Op, ...] = (), op_type: str = "SelectV2"
) -> list[Any]:
    """Which elements of the logarithm of widths are told, of which `condition` says what is chosen."""
    condition = np.asarray(condition)
    mask = np.broadcast_to(
        condition if condition.ndim != 1 or op_type != "Select" else condition[:, None], LOGS.shape
    )
    out = np.where(~mask if flipped else mask, LOGS, np.float32(0))
    reads = ("zero", "log") if flipped else ("log", "zero")
    made = made_run(
        op("y", "Placeholder", value=WIDTHS), op("ok", "Const", value=condition),
        op("zero", "Const", value=np.zeros_like(LOGS)),
        op("log", "Log", "y", value=LOGS), op("out", op_type, "ok", *reads, value=out), *more,
        feeds={"y:0": WIDTHS},
    )  # fmt: skip
    origin = OriginSearch(made).first()
    assert origin is not None and origin.name.node == "log"
    assert origin.left_out == len(ALL) - origin.bad.sum()
    shown = Prompt(made, width=120).show("origin", 120)
    assert ("more are bad, but no tf.where chooses them" in shown) == (origin.left_out > 1)
    return [tuple(int(at) for at in one) for one in np.argwhere(origin.bad)]


ALL = [(0, 0), (1, 0), (1, 1), (2, 1)]


def test_what_is_chosen_is_told_and_what_is_not_is_left_out() -> None:
    one = np.zeros_like(LOGS, bool)
    one[2, 1] = one[0, 1] = True
    assert _places(one) == [(2, 1)]
    assert _places(~one, flipped=True) == [(2, 1)]
    assert _places([[True], [False], [False]]) == [(0, 0)], "by rows"
    assert _places([False, True, False], op_type="Select") == ALL, "which is not told by the shape alone"


def test_where_nothing_bad_is_chosen_or_another_op_reads_it_all_is_told() -> None:
    one = np.zeros_like(LOGS, bool)
    one[2, 1] = True
    assert _places(one, more=(op("sum", "Tanh", "log", value=np.where(LOGS == -INF, -1, np.tanh(LOGS))),)) == ALL


@pytest.mark.parametrize("shape", [(), (2,)])
def test_a_condition_that_is_broadcast(shape: tuple[int, ...]) -> None:
    chosen = [(0, 0), (1, 0)] if shape else ALL
    assert _places(np.array([True, False]) if shape else np.array(True)) == chosen
