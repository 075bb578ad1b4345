"""A sparse matrix that comes in beside what it is multiplied with: nobody can tell which is the batch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.calls import RunKind

ORDER = np.array([2, 0, 1])


def _origin(kind: RunKind, other: str) -> Origin:
    """Rows of `x`, the second of which has a 0, in an `ORDER` given by the elements of a sparse matrix."""
    x = np.array([[1, 2], [0, 3], [4, 5]], np.float32)
    ones = np.ones(3, np.float32)
    product = x[ORDER]
    feeds = {"ones:0": ones, "x:0": x} if other == "Placeholder" else {"ones:0": ones}
    with np.errstate(divide="ignore"):
        bad = np.log(product)
    run = made_run(
        op("at", "Const", value=np.stack([np.arange(3), ORDER], 1)), op("ones", "Placeholder", value=ones),
        op("shape", "Const", value=np.array([3, 3])), op("x", other, value=x),
        op("mm", "SparseTensorDenseMatMul", "at", "ones", "shape", "x", value=product),
        op("log", "Log", "mm", value=bad), feeds=feeds,
    )  # fmt: skip
    found = OriginSearch(replace(run, call=replace(run.call, kind=kind))).first()
    assert found is not None
    return found


@pytest.mark.parametrize("kind", [RunKind.EAGER, RunKind.SESSION])
def test_of_two_that_may_be_the_batch_no_row_is_told(kind: RunKind) -> None:
    found = _origin(kind, "Placeholder")
    assert found.batch_rows == ()
    assert "either may be the batch" in found.batch.lost


def test_beside_a_constant_the_sparse_one_is_the_batch() -> None:
    assert _origin(RunKind.SESSION, "Const").batch_rows == (2,)
