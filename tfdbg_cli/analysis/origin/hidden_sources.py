"""What a tensor was made of that no edge of the graph leads to: items of lists, and what other replicas gave."""

from __future__ import annotations

from tfdbg_cli.analysis.batch.tensor_lists import TensorLists
from tfdbg_cli.analysis.causes.collectives import given_by_others
from tfdbg_cli.analysis.graph.lineage import Lineage
from tfdbg_cli.model.runs import Run


class HiddenSources:
    """The tensors of `run` that others were made of, beside their inputs."""

    def __init__(self, run: Run, lineage: Lineage) -> None:
        self._run = run
        self._lineage = lineage
        self._lists = TensorLists(run, lineage)
        self._known: dict[int, list[int]] = {}

    def rows(self, index: int) -> list[int]:
        """The tensors that the one at `index` was made of, but for its inputs."""
        found = self._known.get(index)
        if found is None:
            items = [item.row for item in self._lists.items(index)]
            found = self._known[index] = [*items, *given_by_others(self._run, self._lineage, index)]
        return found
