"""A run with a mask of -inf before a softmax, in which nothing is wrong, for tests of what is intended."""

from __future__ import annotations

import numpy as np

from support.made_run import INF, NAN, Op, made_run, op
from tfdbg_cli.model.runs import Run

SCORES = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
MASKED = np.array([[1.0, -INF], [3.0, 4.0]], np.float32)
SHARES = np.array([[1.0, 0.0], [0.3, 0.7]], np.float32)
MASK = np.array([[0.0, -INF], [0.0, 0.0]], np.float32)
BAD_LOG = op("log", "Log", "scores", value=np.full((2, 2), NAN))


def masked_run(*more: Op, shares: np.ndarray = SHARES) -> Run:
    """Scores, the mask, their sum and its softmax, then `more`, such as `BAD_LOG`."""
    return made_run(
        op("scores", "Placeholder", value=SCORES), op("mask", "Const", value=MASK),
        op("masked", "AddV2", "scores", "mask", value=MASKED), op("soft", "Softmax", "masked", value=shares),
        *more, feeds={"scores:0": SCORES},
    )  # fmt: skip
