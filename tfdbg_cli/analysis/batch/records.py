"""The records of the program's data that stand behind rows of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.components import components
from tfdbg_cli.analysis.batch.sample import sample_of
from tfdbg_cli.model.batch_place import Order
from tfdbg_cli.model.names import tensor_name_of
from tfdbg_cli.model.records import Behind, FoundRecords, SoughtRow
from tfdbg_cli.model.runs import Run

_STORED = "The batch is sparse or ragged: its rows are not looked for in the data."
_NOT_THERE = "The data that the batch was made of are not there: they were the program's, and are not recorded."
_UNKNOWN = (
    "Nobody noted what the batch was made of: that is noted where Python takes it from an iterator of TensorFlow 2"
    " over a data set, and where a method of Keras is given arrays and there is no distribution strategy."
)
_NOT_HELD = "The rows of the batch are not held, so they cannot be looked for in the data."


def records_behind(run: Run, batch: BatchRows, rows: Sequence[int], seconds: float) -> FoundRecords:
    """The records behind these `rows` of the `batch`, looked for no longer than about so many `seconds`."""
    source = _behind(run, batch.source)
    if batch.stored:
        return FoundRecords(notes=(_STORED,))
    if source is None:
        return FoundRecords(notes=(_NOT_THERE if run.origin_path else _UNKNOWN,))
    parts = {}
    asked = batch if batch.rows else replace(batch, rows=tuple(rows))  # what is beside it is told by rows of it
    for part in components(run, asked):
        behind = _behind(run, part.name)
        if behind is not None and behind.data == source.data and part.of_elements is None:
            parts[behind.component or 0] = part
    if not parts:
        return FoundRecords(notes=(_NOT_HELD,))
    sought = [
        SoughtRow(row, {at: part.row(row) for at, part in parts.items()}, _number(run, batch, row)) for row in rows
    ]
    return source.data.find(sought, source.component or 0, seconds)


def is_quickly_told(run: Run, batch: BatchRows) -> bool:
    """Whether the data behind the batch are arrays, in which a row is found without running anything."""
    source = None if batch.stored else _behind(run, batch.source)
    return source is not None and source.data.quick


def _behind(run: Run, name: str) -> Behind | None:
    """The data behind a feed or a tensor of the run, and which part of a batch it is; None where nobody noted it."""
    noted = run.call.behind
    for known in (name, name.removesuffix(":0")):
        if known in noted and noted[known].component is not None:
            return noted[known]
    handles = [one for one in noted.values() if one.component is None]
    tensor = tensor_name_of(name) if name else None
    if len(handles) != 1 or tensor is None or not run.tensors.named(tensor.node, tensor.slot):
        return None
    return Behind(handles[0].data, tensor.slot)


def _number(run: Run, batch: BatchRows, row: int) -> int | None:
    """The number of the sample in arrays that were taken in their order; None where nobody knows it for certain."""
    sample = sample_of(run, batch, row)
    return sample.number if sample is not None and sample.certain and sample.place.order is Order.ARRAYS else None
