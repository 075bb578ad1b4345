"""Captured values of reference variables that may be too late: they share memory that the run goes on writing."""

from __future__ import annotations

from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage, variable_of
from tfdbg_cli.analysis.graph.making.node_facts import VARIABLE_OPS
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import after_update
from tfdbg_cli.ops.effects import updates_variable


class OverwrittenFetches:
    """Asks of the tensors of `run` whether they show what a variable held later."""

    def __init__(self, run: Run, lineage: Lineage) -> None:
        self._run = run
        self._lineage = lineage

    def written_meanwhile(self, index: int) -> bool:
        """Whether the value at `index` may be from after an update: that of a reference variable, by an extra fetch.

        Such a fetch shares the variable's memory, which the run may write later. Extra fetches have no `time_us`.
        """
        if self._run.tensors[index].time_us is not None:
            return False
        node = self._lineage.node(index)
        name = variable_of(node, self._lineage) if node is not None and node.op_type != "ReadVariableOp" else None
        if name is None:
            return False
        if node is not None and node.op_type in VARIABLE_OPS and self._run.tensors.named(after_update(name)):
            return False  # what it held before the run and after it are shown apart
        variable = self._run.graph.find(name)
        if variable is None or variable.op_type == "VarHandleOp":
            return False
        return any(updates_variable(reader.op_type) for reader, _ in self._run.graph.consumers(name))

    def own_target(self, index: int, item: InputSeen) -> bool:
        """Whether `item` is the variable that the op at `index` has just written, seen after the write."""
        node = self._lineage.node(index)
        return (
            node is not None
            and updates_variable(node.op_type)
            and item.index is not None
            and item.node is not None
            and item.node.op_type in VARIABLE_OPS
            and self.written_meanwhile(item.index)
        )
