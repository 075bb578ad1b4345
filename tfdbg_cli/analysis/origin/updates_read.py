"""The sources of a variable's value that the run itself has updated before: no edge of the graph leads to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfdbg_cli.analysis.graph.making.lineage import Lineage, variable_of
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import UPDATED_VARIABLE


class UpdatesRead:
    """Asks of the tensors of `run` which ones were written into the variable that they show."""

    def __init__(self, run: Run, lineage: Lineage) -> None:
        self._run = run
        self._lineage = lineage

    def rows(self, index: int) -> list[int]:
        """The rows of tensors that updates applied to the variable before the one at `index` was read from it."""
        node = self._lineage.node(index)
        if node is None:
            return []
        if node.op_type == UPDATED_VARIABLE:
            return list(self._taken(node.control_inputs, index))
        name = variable_of(node, self._lineage)
        variable = next((found for graph in self._lineage.graphs if name and (found := graph.find(name))), None)
        if variable is None or variable.name == node.name:
            return []
        return list(self._taken(self._lineage.updates_before(node, variable), index))

    def _taken(self, updates: Iterable[str], index: int) -> Iterator[int]:
        for name in updates:
            update = self._find(name)
            for edge in self._lineage.edges(update)[1:] if update is not None else ():  # the first is the variable
                given = [row for row in self._run.tensors.named(edge.tensor.node, edge.tensor.slot) if row < index]
                yield from given[-1:]

    def _find(self, name: str) -> Node | None:
        graphs: Iterable[Graph] = self._lineage.graphs
        return next((found for graph in graphs if (found := graph.find(name)) is not None), None)
