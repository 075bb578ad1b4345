"""Rows of the batch that an op refused, by the range in its error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import made_run, op
from support.prompt import json_of, text_of

from tfdbg_cli.analysis.batch.batch_rows import NO_ROWS
from tfdbg_cli.analysis.batch.refused_rows import refused_rows
from tfdbg_cli.model.calls import RunError, RunKind
from tfdbg_cli.model.runs import Run

GATHER = "indices[2,1] = 7 is not in [0, 5)"
LABELS = "Received a label value of 7 which is outside the valid range of [0, 5).  Label values: 0 4 7 1"


def _failed(message: str, words: list[object], node: str | None = "lookup") -> Run:
    given = np.array(words)
    run = made_run(
        op("words", "Placeholder", value=given), op("table", "Const", value=[0.5] * 5),
        op("lookup", "GatherV2", "table", "words"),
    )  # fmt: skip
    call = replace(run.call, kind=RunKind.FUNCTION, feeds={"words": given})
    return replace(run, call=call, error=RunError("InvalidArgumentError", message, node))


def test_the_row_of_an_index_that_is_too_large() -> None:
    run = _failed(GATHER, [[0, 1], [4, 3], [2, 7], [1, 1]])
    found = refused_rows(run)
    assert (found.rows, found.size, found.source) == ((2,), 4, "words:0")
    assert "Batch     row 2 of 4" in text_of("error_info", run)
    assert json_of("error_info", run)["batch_rows"] == [2]
    assert json_of("row", run)["row"] == 2


def test_all_rows_that_hold_such_a_number_count_not_only_the_one_that_is_named() -> None:
    assert refused_rows(_failed(LABELS, [0, 4, 7, -1])).rows == (2, 3)


def test_the_row_of_what_eager_code_was_given_from_before_which_no_tensor_shows() -> None:
    """A blind test: of labels that stood in a constant before the loop `row` said that none of them is bad."""
    labels = np.array([0, 4, 7, 1])
    run = made_run(op("labels", "Placeholder"), op("table", "Const"), op("lookup", "GatherV2", "table", "labels"))
    call = replace(run.call, kind=RunKind.EAGER, feeds={"labels": labels, "unread": np.array(0)})
    run = replace(run, call=call, error=RunError("InvalidArgumentError", LABELS, "lookup"))
    assert json_of("row", run)["bad_rows"] == [2]
    assert "Batch     row 2 of 4" in text_of("error_info", run)
    number = replace(run, call=replace(call, feeds={"labels": np.array(7)}))
    assert refused_rows(number) == NO_ROWS, "a single number is no batch"


@pytest.mark.parametrize(
    ("message", "words", "node"),
    [
        ("something else went wrong", [0, 7], "lookup"),
        (GATHER, [0, 4], "lookup"),  # what is known is in the range
        (GATHER, [0.0, 7.0], "lookup"),
        (GATHER, [0, 7], None),
        (GATHER, [0, 7], "elsewhere"),
    ],
)
def test_otherwise_no_row_is_named(message: str, words: list[object], node: str | None) -> None:
    assert refused_rows(_failed(message, words, node)) == NO_ROWS
