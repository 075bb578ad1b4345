"""A batch of which the records behind its rows are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from support.made_run import NAN, made_run, op
from tfdbg_cli.model.batch_place import BatchPlace
from tfdbg_cli.model.records import Behind, FoundRecords, Record, SoughtRow
from tfdbg_cli.model.runs import Run


@dataclass
class Data:
    """Data that find what they are told to, and note what they were asked."""

    found: FoundRecords
    quick: bool = True
    asked: list[tuple[list[SoughtRow], int, float]] = field(default_factory=list)

    def find(self, rows: Sequence[SoughtRow], component: int, seconds: float) -> FoundRecords:
        self.asked.append((list(rows), component, seconds))
        return self.found


FOUND = FoundRecords(
    {
        1: Record(40213, "/data/train.tfrecord-00002", "income"),
        4: Record(7, "/data/train.tfrecord-00011", "income", 3),
    },
    ("The record is told by what the row holds.",),
)


def batch(data: Data | None, place: BatchPlace | None = None) -> Run:
    """A batch of six rows, with labels, of which rows 1 and 4 make NaN."""
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    bad = np.where(np.isin(np.arange(6), [1, 4])[:, None], NAN, x)
    feeds: dict[str, Any] = {"x:0": x, "y:0": np.arange(6), "other:0": x}
    run = made_run(
        op("x", "Placeholder", value=x), op("y", "Placeholder", value=feeds["y:0"]),
        op("root", "Sqrt", "x", value=bad), feeds=feeds,
    )  # fmt: skip
    behind = {} if data is None else {"x:0": Behind(data, 0), "y:0": Behind(data, 1)}
    came = {} if place is None else {"x:0": place}
    return replace(run, call=replace(run.call, behind=behind, came=came))
