"""Which sample of the data a row of the batch is, as far as it is known."""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_cli.analysis.batch.rows import BatchRows
from tfdbg_cli.analysis.graph.makers import PIPELINE_OPS
from tfdbg_cli.model.batch_place import BatchPlace, Order
from tfdbg_cli.model.runs import Run


@dataclass(frozen=True, slots=True)
class Sample:
    """A row of the batch at `place`: sample `number`, from 0, None where that cannot be known.

    It is `certain`, or holds where every batch before it had as many rows.
    """

    place: BatchPlace
    number: int | None
    certain: bool


def sample_of(run: Run, batch: BatchRows, row: int) -> Sample | None:
    """Which sample the row of `batch` is; None where nobody noted where the batch was."""
    place = _place(run, batch)
    if place is None or batch.stored:
        return None
    if place.order is Order.SHUFFLED:
        return Sample(place, None, certain=True)
    before = place.step * batch.size if place.first is None else place.first
    return Sample(place, before + row, certain=place.first is not None or not place.step)


def _place(run: Run, batch: BatchRows) -> BatchPlace | None:
    came = run.call.came
    if batch.source in came:
        return came[batch.source]
    feed = batch.source.removesuffix(":0")  # an argument goes by its name
    if feed in came:
        return came[feed]
    # Of an iterator that the run asked for one batch.
    handles = [place for place in came.values() if place.handle]
    if len(handles) != 1:
        return None
    nodes = map(run.graph.find, run.graph.names())
    asking = sum(node is not None and node.op_type in PIPELINE_OPS for node in nodes)
    return handles[0] if asking == 1 else None
