"""What a bad tensor was computed from, though it is not among the inputs that were seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfdbg_cli.analysis.batch.tensor_lists import TensorLists
from tfdbg_cli.analysis.causes.collectives import given_by_others
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import OF_SHAPES, TRUTHS

_MOST = 200  # nodes that are gone through behind one tensor
_NO_NUMBERS_OF = OF_SHAPES | TRUTHS  # what these give has no number of their inputs in it


class HiddenSources:
    """Finds the sources of tensors of `run` that are not among their inputs.

    Those are items of lists, what other replicas gave, and what is read by ops whose own values were not captured:
    a number that is bad before such an op and bad behind it is taken for the same trouble.
    """

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
            others = given_by_others(self._run, self._lineage, index)
            found = self._known[index] = [*items, *others, *self._behind_unseen(index)]
        return found

    def _behind_unseen(self, index: int) -> Iterator[int]:
        """The rows that the inputs of the tensor at `index` were computed from, where these were not captured."""
        starts = _unseen(self._lineage.places(index))
        for node in reached(starts, lambda node: _unseen(self._read_by(node, index)), most=_MOST):
            for item in self._read_by(node, index):
                if item.index is not None and item.index < index:
                    yield item.index

    def _read_by(self, node: Node, index: int) -> list[InputSeen]:
        return [] if node.op_type in _NO_NUMBERS_OF else self._lineage.inputs_before(node, index)


def _unseen(items: Iterable[InputSeen]) -> list[Node]:
    """The nodes among the inputs `items` of which nothing was captured or fed."""
    return [item.node for item in items if item.node is not None and item.index is None and item.value is None]
