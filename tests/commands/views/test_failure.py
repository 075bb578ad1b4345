"""A run that failed, where its origin is asked for: what failed, where, and what tells more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support.made_run import made_run, op
from support.prompt import Prompt

from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame


def _failed(*, values: bool) -> Run:
    x = np.ones((2, 3), np.float32)
    made = made_run(
        op("x", "Placeholder", value=x if values else None), op("loss/mul", "Mul", "x", "x"), feeds={"x:0": x}
    )
    frames = (Frame("/home/me/train.py", 12, "train", "loss = x * y"),)
    error = RunError(
        "InvalidArgumentError", "Incompatible shapes: [8] vs. [8,2]\n\t [[{{node loss/mul}}]]", "loss/mul"
    )
    lacks = "" if values else "The values are missing: the run could not be made again."
    return replace(made, error=error, tracebacks={"loss/mul": frames}, lacks=lacks)


def test_origin_says_what_failed_and_where() -> None:
    said = "The run failed with InvalidArgumentError at loss/mul, train.py:12: Incompatible shapes: [8] vs. [8,2]"
    for values, head in (
        (True, "No NaN or infinity in what is known of this run"),
        (False, "Where it began cannot be told"),
    ):
        shown = Prompt(_failed(values=values), width=160).show("origin", 160)
        assert shown.startswith(head)
        assert f"{said}\nerror_info tells all of it." in shown


def test_a_run_that_did_not_fail_has_no_such_line() -> None:
    assert "failed" not in Prompt(replace(_failed(values=True), error=None)).show("origin", 160)
