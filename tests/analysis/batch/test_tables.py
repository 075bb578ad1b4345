"""A table that rows are looked up in is no batch; records of which a batch is gathered are."""

from __future__ import annotations

import numpy as np
from support.made_run import INF, made_run, op

from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.analysis.origin.search import OriginSearch

IDS = np.array([3, 7])
TABLE = np.ones((12, 3), np.float32)


def _origin(*, tied: bool) -> Origin:
    """Rows are looked up of `t`, which makes the logits, too, if `tied`; else a matrix of weights does."""
    weights = "t" if tied else "w"
    run = made_run(
        op("t", "Placeholder", value=TABLE), op("w", "Const", value=TABLE), op("ids", "Placeholder", value=IDS),
        op("axis", "Const", value=np.array(0)), op("rows", "GatherV2", "t", "ids", "axis", value=TABLE[IDS]),
        op("turned", "Transpose", weights, "perm", value=TABLE.T), op("perm", "Const", value=np.array([1, 0])),
        op("logits", "MatMul", "rows", "turned", value=np.ones((2, 12))),
        op("log", "Log", "logits", value=np.array([[1.0] * 12, [-INF] * 12], np.float32)),
        feeds={"t:0": TABLE, "ids:0": IDS},
    )  # fmt: skip
    found = OriginSearch(run).first()
    assert found is not None
    return found


def test_a_table_that_is_looked_up_is_no_batch() -> None:
    """A blind test: of a model that samples, the row of the token last drawn was called the row of the batch."""
    found = _origin(tied=True)
    assert (found.batch.source, found.batch_rows) == ("ids:0", (1,))


def test_records_of_which_a_batch_is_gathered_are_one() -> None:
    found = _origin(tied=False)
    assert (found.batch.source, found.batch_rows) == ("t:0", (7,))
