"""The rows of the batch that the origin of a made run is told with."""

from __future__ import annotations

import numpy as np

from support.made_run import Op, made_run, op
from tfdbg_cli.analysis.origin.search import OriginSearch

X = np.ones((4, 3), np.float32)


def rows(*ops: Op, feeds: dict[str, object] | None = None) -> tuple[int, ...]:
    """The rows that are told of a run of `ops`, which is fed `X` or else `feeds`."""
    origin = OriginSearch(made_run(*ops, feeds={"x:0": X} if feeds is None else feeds)).first()
    assert origin is not None
    return origin.batch_rows


def given(value: object = X) -> Op:
    """What is fed as x."""
    return op("x", "Placeholder", value=value)
