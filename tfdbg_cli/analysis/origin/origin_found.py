"""What is known of an origin once it is found, and how infinities that look intended are dealt with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.causes.intended import Intended
from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.analysis.origin.offending import Element
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.values import Array


class OnIntended(StrEnum):
    """What to do about infinities that look intended."""

    LAST = "last"  # report one only if nothing else is wrong
    SKIP = "skip"  # treat them as fine
    SHOW = "show"  # treat them as any other infinity


@dataclass(frozen=True)
class Origin:
    """Where a run first went wrong.

    `made_by` is the node whose line of the program to show: for a runtime argument that is its placeholder, for a
    value of unknown creation the first op that reads it, which is then `read_by`, too. `index` is the tensor's place
    in the run (None: a feed that no tensor shows). `node` is None if it is in no graph. `bad` marks the offending
    elements of `value`; `elements` are the first few of them. `forward` is the op whose gradient the node computes,
    if known; `frame` is then the line that made that op, unless the program is stopped at the node itself. `way` says
    which inputs made the first of `elements`, by the nodes on the way back. `left_out` is how many more elements are
    bad that a tf.where does not choose.
    """

    index: int | None
    name: TensorName
    device: str
    op_type: str
    node: Node | None
    value: Array
    bad: Array
    inputs: tuple[InputSeen, ...]
    elements: tuple[Element, ...]
    batch: BatchRows
    cause: Cause
    made_by: str
    frame: Frame | None
    variable: str = ""
    intended: Intended | None = None
    forward: str = ""
    read_by: Node | None = None
    way: Mapping[str, int] = field(default_factory=dict)
    left_out: int = 0

    @property
    def batch_rows(self) -> tuple[int, ...]:
        """The rows of the batch that the offending elements trace back to; empty where it cannot be followed."""
        return self.batch.rows
