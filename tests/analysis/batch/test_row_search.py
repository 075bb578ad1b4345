"""The way back to the batch: where it begins, where it comes together, and what it may cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.batch_rows import given as _x
from support.batch_rows import rows as _rows
from support.held_run import Held
from support.made_run import INF, Op, made_run, op

from tfdbg_cli.analysis.batch import row_search
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.model.values import Lack, NoValue

BAD = np.array([[1, 1], [-INF, 1], [1, 1], [1, -INF]], np.float32)


@pytest.mark.parametrize(("axis", "rows"), [(1, (1, 3)), (-1, (1, 3)), (0, (1,))])
def test_concatenation_keeps_rows_or_sets_one_batch_behind_the_other(axis: int, rows: tuple[int, ...]) -> None:
    half = np.ones((4, 1)) if axis else np.ones((2, 2))
    cat = op("cat", "ConcatV2", "x", "x", "axis", value=np.ones((4, 2)))
    ops = (_x(half), op("axis", "Const", value=np.array(axis)), cat, op("log", "Log", "cat", value=BAD))
    assert _rows(*ops, feeds={"x:0": half}) == rows


def test_of_two_parts_that_are_joined_the_rows_of_both_are_told() -> None:
    half, bad = np.ones((4, 2)), np.ones((8, 2))
    bad[1] = bad[6] = -INF
    cat = op("cat", "ConcatV2", "x", "y", "axis", value=np.ones((8, 2)))
    ops = (_x(half), op("y", "Placeholder", value=half), op("axis", "Const", value=np.array(0)), cat)
    log = op("log", "Log", "cat", value=bad)
    assert _rows(*ops, log, feeds={"x:0": half, "y:0": half}) == (1, 2)
    longer = op("y", "Placeholder", value=np.ones((5, 2)))  # another batch: its rows are not of the first
    wide = np.ones((9, 2))
    wide[1] = wide[8] = -INF
    cat = op("cat", "ConcatV2", "x", "y", "axis", value=np.ones((9, 2)))
    ops = (_x(half), longer, op("axis", "Const", value=np.array(0)), cat, op("log", "Log", "cat", value=wide))
    assert _rows(*ops, feeds={"x:0": half, "y:0": np.ones((5, 2))}) == (1,)


def test_parts_that_are_joined_again_and_again_do_not_multiply_what_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of 13 joins has what is joined twice, which makes thousands of ways along the axis that they share."""
    steps = 0
    real = row_search.RowSearch._step

    def counted(search: Any, *arguments: Any) -> Any:
        nonlocal steps
        steps += 1
        return real(search, *arguments)

    monkeypatch.setattr(row_search.RowSearch, "_step", counted)
    ops: list[Op] = [_x(np.ones((4, 2))), op("axis", "Const", value=np.array(1))]
    before, width = "x", 2
    for turn in range(13):
        ops += [
            op(f"relu{turn}", "Relu", before, value=np.ones((4, width))),
            op(f"cat{turn}", "ConcatV2", f"relu{turn}", before, "axis", value=np.ones((4, 2 * width))),
        ]
        before, width = f"cat{turn}", 2 * width
    bad = np.ones((4, width))
    bad[1:3] = -INF
    assert _rows(*ops, op("log", "Log", before, value=bad), feeds={"x:0": np.ones((4, 2))}) == (1, 2)
    assert steps <= 2 * row_search.MOST_TENSORS  # of each axis


def test_a_loop_over_time_that_gathers_its_turns_in_a_list() -> None:
    """As Keras' LSTM: time goes first, turns put their outputs into a TensorArray, which is stacked in the end."""
    x = np.ones((3, 2, 1), np.float32)
    handle = NoValue(Lack.OPAQUE, "A list holds no numbers.")
    turns = ("list", "item", "step", "put")
    bad = np.ones((2, 3, 1), np.float32)
    bad[1, 2] = INF
    run = (
        _x(x), op("perm", "Const", value=np.array([1, 0, 2])),
        op("time_major", "Transpose", "x", "perm", value=np.ones((2, 3, 1))),
        op("from", "TensorListFromTensor", "time_major", value=handle), op("i", "Const", value=np.array(0)),
        op("reserve", "TensorListReserve", value=handle),
        op("list", "LoopVariable", "reserve", "put", values=(handle, handle)),
        op("item", "TensorListGetItem", "from", "i", values=(np.ones((3, 1)), np.ones((3, 1)))),
        op("step", "Exp", "item", values=(np.ones((3, 1)), np.ones((3, 1)))),
        op("put", "TensorListSetItem", "list", "i", "step", values=(handle, handle)),
        op("while", "StatelessWhile", "put", "reserve", value=handle),
        op("stack", "TensorListStack", "while", value=np.ones((2, 3, 1))), op("exp", "Exp", "stack", value=bad),
    )  # fmt: skip
    order = [*(o.name for o in run[:6]), *turns, *turns, "while", "stack", "exp"]
    origin = OriginSearch(made_run(*run, feeds={"x:0": x}, order=order)).first()
    assert origin is not None and origin.batch_rows == (2,)


def test_a_loop_of_version_1_that_gathers_its_turns_in_an_array() -> None:
    """As tf.compat.v1.nn.dynamic_rnn: arrays are named by handles, which enter the loop."""
    x = np.ones((3, 2, 1), np.float32)
    bad = np.ones((2, 3, 1), np.float32)
    bad[1, 2] = INF
    flow = np.float32(0)
    run = made_run(
        _x(x), op("perm", "Const", value=np.array([1, 0, 2])),
        op("time_major", "Transpose", "x", "perm", value=np.ones((2, 3, 1))),
        op("in", "TensorArrayV3"), op("i", "Const", value=np.array(0)),
        op("scatter", "TensorArrayScatterV3", "in", "i", "time_major", value=flow),
        op("enter", "Enter", "in"), op("read", "TensorArrayReadV3", "enter", "i", "scatter", value=np.ones((3, 1))),
        op("out", "TensorArrayV3"), op("enter_out", "Enter", "out"),
        op("write", "TensorArrayWriteV3", "enter_out", "i", "read", value=flow),
        op("all", "TensorArrayGatherV3", "out", "i", "write", value=np.ones((2, 3, 1))),
        op("exp", "Exp", "all", value=bad), feeds={"x:0": x},
    )  # fmt: skip
    origin = OriginSearch(run).first()
    assert origin is not None and origin.batch_rows == (2,)


def test_an_input_pipeline_is_a_source_of_batches() -> None:
    next_ = op("next", "IteratorGetNext", value=np.ones((4, 2)))
    assert _rows(next_, op("log", "Log", "next", value=BAD), feeds={}) == (1, 3)


def test_a_feed_that_was_not_captured_counts() -> None:
    assert _rows(op("x", "Placeholder"), op("log", "Log", "x", value=BAD), feeds={"x:0": np.ones((4, 2))}) == (1, 3)


def test_a_scalar_has_no_rows() -> None:
    assert _rows(_x(), op("m", "Mean", "x", value=INF)) == ()


class _Holding(Held):
    """A run of a session before which its variable `v` held something."""

    def replay_spec(self) -> ReplaySpec:
        held = ReplayInput("v", InputRole.VARIABLE, "float32", np.array([1, 0, 3], np.float32), node="v")
        return ReplaySpec(RunKind.SESSION, b"", "", inputs=(held,))


def test_elements_of_a_variable_are_no_rows() -> None:
    """As of the moving variance that a normalization takes in one branch, in Keras 2."""
    run = made_run(
        op("v", "VarHandleOp"), op("first", "Const", value=True),
        op("cond", "If", "first", "v", value=[1.0, 0.0, 3.0]), op("log", "Log", "cond", value=[0.0, -INF, 1.0]),
    )  # fmt: skip
    session = replace(run, call=replace(run.call, kind=RunKind.SESSION), replayable=_Holding())
    origin = OriginSearch(session).first()
    assert origin is not None and origin.name.node == "log"
    assert origin.batch_rows == ()


@pytest.mark.parametrize("whole", [True, False], ids=["scales given", "scales computed"])
def test_a_row_that_serves_all_rows_of_another_input_is_no_batch(whole: bool) -> None:
    """A blind test: of `x[8, 4] / scales[1, 4]` with a 0 among the scales row 0 of 1 was told, fed as the scales."""
    x, scales, bad = np.ones((8, 4), np.float32), np.ones((1, 4), np.float32), np.ones((8, 4), np.float32)
    scales[0, 1] = 0
    bad[:, 1] = INF
    of = op("of", "Placeholder", value=scales) if whole else op("of", "Abs", "scales", value=scales)
    ops = (_x(x), *(() if whole else (op("scales", "Placeholder", value=scales),)), of)
    feeds = {"x:0": x, ("of:0" if whole else "scales:0"): scales}
    assert _rows(*ops, op("div", "RealDiv", "x", "of", value=bad), feeds=feeds) in ((), tuple(range(8)))
