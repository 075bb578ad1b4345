"""A variable that stands behind a handle: what it held as a run began, and the tensors that were read from it."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.analysis.graph.flow.updates_within import HeldBefore
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array, known_array
from tfdbg_cli.ops.kinds import REFERENCE_VARIABLES


def is_behind_handle(run: Run, name: TensorName) -> bool:
    """Whether `name` is the handle of a variable of `run`: the variable has no tensor of its own."""
    lineage = Lineage(run)
    node = _found(lineage, name)
    return node is not None and node.op_type not in REFERENCE_VARIABLES and lineage.is_variable(node)


def reads_of(run: Run, name: TensorName) -> Sequence[TensorName]:
    """The tensors that show what `run` read of the variable behind the handle `name` before any update of it."""
    lineage = Lineage(run)
    node = _found(lineage, name)
    rows = () if node is None else lineage.was_read(node)
    return list(dict.fromkeys(run.tensors[row].name for row in rows))


def value_before(run: Run, name: TensorName) -> Array | None:
    """What the variable behind the handle `name` held as `run` began: as was read, or as it is held; else None."""
    for read in reads_of(run, name):
        value = known_array(run.tensors.value(run.tensors.named(read.node, read.slot)[0]))
        if value is not None:
            return value
    if run.change is not None and name in run.change.given:
        return run.change.given[name]  # what can be made again is the program's run, before which it held another
    return HeldBefore(run).in_any_run(name.node)


def _found(lineage: Lineage, name: TensorName) -> Node | None:
    if name.slot:
        return None
    return next((node for graph in lineage.graphs if (node := graph.find(name.node)) is not None), None)
