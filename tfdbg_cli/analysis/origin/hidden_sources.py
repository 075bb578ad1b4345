"""What a bad tensor was computed from, though no edge of the graph leads there."""

from __future__ import annotations

from tfdbg_cli.analysis.batch.tensor_lists import TensorLists
from tfdbg_cli.analysis.causes.collectives import given_by_others
from tfdbg_cli.analysis.graph.lineage import Lineage
from tfdbg_cli.model.runs import Run


class HiddenSources:
    """Finds the sources of tensors of `run` that are not among their inputs: items of lists, other replicas."""

    def __init__(self, run: Run, lineage: Lineage) -> None:
        self._run = run
        self._lineage = lineage
        self._lists = TensorLists(run, lineage)
        self._known: dict[int, list[int]] = {}

    def rows(self, index: int) -> list[int]:
        """The rows of the tensors from which the one at `index` was computed, other than its inputs."""
        found = self._known.get(index)
        if found is None:
            items = [item.row for item in self._lists.items(index)]
            found = self._known[index] = [*items, *given_by_others(self._run, self._lineage, index)]
        return found
