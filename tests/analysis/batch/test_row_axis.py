"""Places along the first axis that are no rows: steps of time, and batches one below the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.made_run import INF, Op, made_run, op

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.origin.search import OriginSearch


def _taken(places: tuple[int, ...], step: np.ndarray) -> list[Op]:
    """x[place] for each of `places`."""
    made = [op("by", "Const", value=np.array([1]))]
    for at in places:
        made += [op(f"at{at}", "Const", value=np.array([at])), op(f"to{at}", "Const", value=np.array([at + 1]))]
        edges = ("x", f"at{at}", f"to{at}", "by")
        made.append(op(f"x{at}", "StridedSlice", *edges, shrink_axis_mask="1", value=step))
    return made


def _batch(x: np.ndarray, places: tuple[int, ...], **given: Any) -> BatchRows:
    """What is told of a logarithm of x[4], at the end of row 3 of which 0 stands; what else is `given` is read."""
    step = np.ones(x.shape[1:], np.float32)
    step[3] = 0
    with np.errstate(divide="ignore"):
        log = op("log", "Log", "x4", value=np.log(step))
    more = [op(f"read_{name}", "Neg", name, value=value) for name, value in given.items()]
    feeds = {f"{name}:0": value for name, value in {"x": x, **given}.items()}
    placeholders = [op(name, "Placeholder") for name in ("x", *given)]
    origin = OriginSearch(made_run(*placeholders, *_taken(places, step), log, *more, feeds=feeds)).first()
    assert origin is not None
    return origin.batch


FLAT, DEEP = np.ones((7, 5), np.float32), np.ones((7, 5, 2), np.float32)
BY_TIME, BY_ROW = np.ones(5, np.float32), np.ones(7, np.float32)


@pytest.mark.parametrize("x", [FLAT, DEEP], ids=["tokens", "features"])
def test_labels_tell_along_which_axis_the_rows_are(x: np.ndarray) -> None:
    assert _batch(x, (3, 4), y=BY_ROW).rows == (4,)
    by_time = _batch(x, (3, 4), y=BY_TIME)
    assert by_time.rows == ()
    assert by_time.lost == "of x:0 single places along axis 0 were taken, but y:0 has a row for each along axis 1"


def test_without_labels_sequences_may_be_either_way() -> None:
    assert _batch(FLAT, (3, 4)).rows == (4,)
    deep = _batch(DEEP, (3, 4))
    assert deep.rows == ()
    assert deep.lost == "the way back leads along axes 0 and 1 of x:0, and nothing tells which of them has the rows"


def test_one_place_alone_may_be_a_batch_of_its_own() -> None:
    """As of all batches of the data a step takes one: x = data[step]."""
    alone = _batch(DEEP, (4,), y=BY_ROW)
    assert alone.rows == ()
    assert alone.lost == "of x:0 the run takes a single place along axis 0, which may be a batch of its own"


def test_axes_and_shapes_that_are_given_are_no_labels() -> None:
    step = np.ones(5, np.float32)
    shape = np.array([1, 1, 1, 1, 5])
    feeds = {"x:0": FLAT, "shape:0": shape}
    placeholders = [op(name, "Placeholder") for name in ("x", "shape")]
    reshaped = op("wide", "Reshape", "x4", "shape", value=step.reshape(1, 1, 1, 1, 5))
    axes = op("axes", "Const", value=np.arange(5))
    total = op("sum", "Sum", "wide", "axes", value=np.float32(0))
    log = op("log", "Log", "sum", value=-INF)
    run = made_run(*placeholders, *_taken((4,), step), reshaped, axes, total, log, feeds=feeds)
    origin = OriginSearch(run).first()
    assert origin is not None and origin.batch.rows == (4,)
