"""Rows of the batch that are behind something, and the way that leads to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.values import Array


@dataclass(frozen=True, slots=True)
class BatchRows:
    """`rows` of a batch of `size`, which came in as `source`: a feed, an argument, or an output of the pipeline.

    `stored` says that the batch is sparse or ragged, so that `source` holds the elements of all rows; `of_elements`
    is the row of each. A run may take several batches: this one is the `execution`th that the source gave, from 0.
    `apart` says that the source was given to eager ops before the call, which put its rows in another order. `way`
    has the tensors on the way back to it, by their places in the run: which of their rows these are. Where there are
    none, `lost` says in words where the way ends. `lookup` is there where rows are looked up by numbers that came in:
    the batch are those numbers, which name rows of a table; or what the rows are looked up in, which may be a table.
    `doubtful` are those of `rows` that none of the elements which were followed one by one leads to, of very many.
    """

    rows: tuple[int, ...] = ()
    source: str = ""
    size: int = 0
    stored: bool = False
    execution: int = 0
    apart: bool = False
    of_elements: Array | None = field(default=None, compare=False, repr=False)
    way: Mapping[int, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)
    lost: str = field(default="", compare=False)
    lookup: Lookup | None = field(default=None, compare=False)
    doubtful: tuple[int, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Lookup:
    """That `indices`, which came in, name rows of `looked_in`. `is_table` says that these are no rows of a batch."""

    looked_in: str
    indices: str
    is_table: bool


NO_ROWS = BatchRows()


def lost_at(node: Node) -> str:
    """Where a way ends: at an op which makes its rows of others than one each, or of which that is not known."""
    return f"the way back ends at {node.name} ({node.op_type}), which does not keep rows apart as far as tfdbg knows"


def along_other_axis(axis: int, batch: TensorName) -> str:
    """Where a way ends: at places along another axis of a batch than that of its rows."""
    return f"the way back leads along axis {axis} of {batch}, not its rows"
