"""Rows that are looked up: of a table, of data out of which a batch is gathered, or nobody can tell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.made_run import INF, Op, made_run, op

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.commands.views.origin.batch import batch_lines
from tfdbg_cli.model.calls import RunKind

IDS = np.array([3, 7, 9])
TABLE = np.ones((12, 4), np.float32)
Y = np.ones((3, 4), np.float32)
BAD = np.array([[1, 1, 1, 1], [1, -INF, 1, 1], [1, 1, 1, 1]], np.float32)
AXIS = op("axis", "Const", value=np.array(0))


def _gather(of: str, by: str, name: str, value: Any, axis: str = "axis") -> Op:
    return op(name, "GatherV2", of, by, axis, value=value)


LOOKED_UP = _gather("t", "ids", "rows", Y)
LOG = op("log", "Log", "rows", value=BAD)


def _batch(*ops: Op, told: str = "", unchanged: tuple[str, ...] = (), **given: Any) -> BatchRows:
    """The batch behind the origin of `ops`, which are given t, ids and what `given` says; of it `told` is said."""
    feeds = {"t": TABLE, "ids": IDS, **given}
    placeholders = [op(name, "Placeholder") for name in feeds]
    run = made_run(*placeholders, AXIS, *ops, feeds=feeds)
    run = replace(run, call=replace(run.call, kind=RunKind.EAGER, unchanged=unchanged))
    origin = OriginSearch(run).first()
    assert origin is not None and str(origin.name) == "log:0"
    (line,) = batch_lines(run, origin.batch)
    assert told in line.text
    return origin.batch


def _found(batch: BatchRows) -> tuple[str, tuple[int, ...], int]:
    return batch.source, batch.rows, batch.size


@pytest.mark.parametrize("shape", [(3, 1), (3, 4)])
def test_labels_of_as_many_rows_as_the_numbers_make_what_is_looked_up_a_table(shape: tuple[int, ...]) -> None:
    """A blind test: the row of an embedding that a loop holds in a constant was called the row of the batch."""
    weighted = op("weighted", "Mul", "y", "rows", value=Y)
    told = "row 1 of 3; fed as ids, y; that is row 7 of t"
    assert _found(_batch(LOOKED_UP, weighted, LOG, y=np.ones(shape, np.float32), told=told)) == ("ids:0", (1,), 3)


def test_a_table_behind_a_read_and_numbers_in_another_form() -> None:
    cast, square = op("cast", "Cast", "ids", value=IDS), op("square", "Square", "y", value=Y)
    found = _batch(cast, _gather("t", "cast", "rows", Y), square, LOG, y=Y, told="fed as ids, y; that is row 7 of t")
    assert _found(found) == ("ids:0", (1,), 3)


def test_numbers_in_rows_name_the_table_alone() -> None:
    """Of several tokens in a row nobody says which one it was."""
    tokens = np.arange(12).reshape(3, 4)
    bad = np.ones((3, 4, 4), np.float32)
    bad[1, 2] = -INF
    ops = _gather("t", "ids", "rows", np.ones((3, 4, 4), np.float32)), op("square", "Square", "y", value=Y)
    found = _batch(*ops, op("log", "Log", "rows", value=bad), ids=tokens, y=Y, told="ids, y; they name rows of t")
    assert _found(found) == ("ids:0", (1,), 3)


def test_what_nothing_tells_apart_is_said_to_be_either() -> None:
    told = "row 7 of 12; fed as t; ids names rows of it, so that it may be data or a table"
    found = _batch(LOOKED_UP, LOG, told=told)
    assert _found(found) == ("t:0", (7,), 12) and found.lookup is not None and not found.lookup.is_table


def test_what_each_turn_is_given_while_data_comes_anew_is_a_table() -> None:
    """A blind test: of the noise of each step of a diffusion those of the steps drawn were rows of a batch."""
    found = _batch(LOOKED_UP, LOG, unchanged=("t",), told="row 1 of 3; fed as ids; that is row 7 of t")
    assert _found(found) == ("ids:0", (1,), 3)


def test_records_with_labels_of_their_own_are_data() -> None:
    labels = np.ones((12, 1), np.float32)
    mine = _gather("labels", "ids", "mine", np.ones((3, 1), np.float32))
    found = _batch(LOOKED_UP, mine, op("square", "Square", "noise", value=Y), LOG, labels=labels, noise=Y)
    assert _found(found) == ("t:0", (7,), 12) and found.lookup is None


@pytest.mark.parametrize(
    "ops",
    [
        (op("all", "Square", "t", value=TABLE), LOOKED_UP),
        (LOOKED_UP, _gather("t", "others", "other", Y)),
        (LOOKED_UP, _gather("t", "ids", "other", Y, "by")),
    ],
    ids=["used whole", "looked up twice", "along an axis of which nothing is known"],
)
def test_what_is_used_otherwise_too_stays_the_batch(ops: tuple[Op, ...]) -> None:
    square = op("square", "Square", "y", value=Y)
    found = _batch(op("by", "Const"), *ops, square, LOG, y=Y, others=IDS)
    assert _found(found) == ("t:0", (7,), 12) and found.lookup is None


def test_pairs_of_records_are_no_tokens() -> None:
    pairs = np.array([[0, 3], [3, 7], [9, 1]])
    bad = np.ones((3, 2, 4), np.float32)
    bad[1, 1] = -INF
    ops = _gather("t", "ids", "rows", np.ones((3, 2, 4), np.float32)), op("square", "Square", "y", value=Y)
    found = _batch(*ops, op("log", "Log", "rows", value=bad), ids=pairs, y=Y, told="data or a table")
    assert _found(found) == ("t:0", (7,), 12)
