"""What a run got from outside and keeps when it is made again with other values, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tfdbg_cli.capture.what_if.effects import DRAWS, effect_of
from tfdbg_cli.capture.what_if.outdated import behind
from tfdbg_cli.capture.what_if.slices import Kept
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.ops.effects import Does, StatePlace, does
from tfdbg_cli.ops.kinds import PYTHON


def why_not_drawn(op_types: Iterable[str]) -> Kept | None:
    """Why a node with ops of these types in it keeps what these drew from outside; None if none draws.

    What is in a table may well be the same, but nothing of it is held.
    """
    drawing = {op_type for op_type in op_types if effect_of(op_type) in DRAWS}
    if not drawing:
        return None
    if drawing <= PYTHON:
        return Kept.ASKED
    return Kept.LOOKED_UP if all(does(one, {Does.READS}, {StatePlace.TABLE}) for one in drawing) else Kept.DRAWN


def draws_behind(run: Run, replaced: Iterable[TensorName], held: Collection[TensorName]) -> dict[str, Kept]:
    """The nodes that draw the `held` tensors and depend on those `replaced`, with why they keep what they drew.

    It follows the graph that the run shows: what makes the run again is given the `held` tensors, and does not have
    these nodes.
    """
    drawing = {name.node for name in held}
    found = (run.graph.find(name) for name in behind(run.graph, replaced, drawing) if name in drawing)
    return {node.name: _why(node) for node in found if node is not None}


def _why(node: Node) -> Kept:
    return why_not_drawn([node.op_type]) or Kept.DRAWN
