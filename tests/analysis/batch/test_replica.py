"""To which replica of a step a batch was given: rows count within its own batch, not within that of all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import made_run, op
from support.prompt import Prompt
from support.replica_steps import drawing_step, replicated_step

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.replica import replica_given
from tfdbg_cli.commands.views.origin.batch import batch_lines
from tfdbg_cli.model.runs import Run


@pytest.mark.parametrize("number", [0, 1])
def test_a_batch_that_a_conditional_hands_on_with_those_of_others(number: int) -> None:
    """A blind test: Keras asks for each replica whether there is a batch, and nothing told which one had the row."""
    drawn = f"cond/true/cond{'_1' * number}/true/Identity:0"
    assert replica_given(drawing_step(), drawn) == number
    assert replica_given(drawing_step(asked=False), f"next{'_1' * number}:0") == number
    assert replica_given(replicated_step(), f"x{'_1' * number}") == number


def test_what_no_replica_was_given_alone() -> None:
    assert replica_given(replicated_step(), "half:0") is None, "all of them read it"
    assert replica_given(drawing_step(), "nothing:0") is None
    alone = made_run(op("x", "Placeholder", value=np.ones(2)), op("y", "Exp", "x", value=np.ones(2)))
    assert replica_given(alone, "x:0") is None, "there is one alone"


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ((5,), "row 5 of the 8 that replica 1 was given"),
        (tuple(range(8)), "all 8 rows that replica 1 was given"),
    ],
)
def test_the_line_of_the_batch_says_whose_rows_these_are(rows: tuple[int, ...], text: str) -> None:
    (shown,) = batch_lines(drawing_step(), BatchRows(rows, "cond/true/cond_1/true/Identity:0", 8))
    assert shown.text.startswith(f"Batch     {text}; from ")
    (plain,) = batch_lines(drawing_step(), BatchRows(rows[:1], "nothing:0", 8))
    assert f"row {rows[0]} of 8;" in plain.text


def test_a_row_says_whose_it_is() -> None:
    run = _spoiled()
    prompt = Prompt(run)
    data = prompt.data("row")
    assert (data["row"], data["bad"], data["replica"]) == (1, True, 1)
    assert prompt.show("row", 80).startswith("Row 1 of the 2 that replica 1 was given: bad")
    assert prompt.data("origin")["batch"]["replica"] == 1


def _spoiled() -> Run:
    """A step in which the second replica was given a NaN in its second row."""
    given = np.array([[1, 2], [np.nan, 2]], np.float32)
    run = made_run(
        op("x", "Placeholder", value=np.ones((2, 2), np.float32)), op("x_1", "Placeholder", value=given),
        op("mul", "Square", "x", value=np.ones((2, 2), np.float32)),
        op("replica_1/mul", "Square", "x_1", value=np.square(given)),
        feeds={"x:0": np.ones((2, 2), np.float32), "x_1:0": given},
    )  # fmt: skip
    return replace(run, call=replace(run.call, fetches=("mul:0", "replica_1/mul:0")))
