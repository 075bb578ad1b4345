"""Which lost values may have been bad before the origin."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.watch.verdicts import Verdicts
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import reached


class OpenRows:
    """Asks of the values of `run` for which `verdicts` looked in vain; `made_of` leads from a row to its inputs."""

    def __init__(
        self, run: Run, lineage: Lineage, verdicts: Verdicts, made_of: Callable[[int], Iterable[int]]
    ) -> None:
        self._run = run
        self._lineage = lineage
        self._verdicts = verdicts
        self._made_of = made_of

    def before(self, origin: int) -> frozenset[int]:
        """The rows of lost values before that of `origin`, but for those that are of no account to it.

        That is one which it was not made of, if all that reads it is there and fine. Reads these values.
        """
        lost = frozenset(row for row in self._verdicts.unread if row < origin)
        if not lost:
            return lost
        ancestors = frozenset(reached([origin], self._made_of))
        fine: set[int] = set()
        for row in sorted(lost - ancestors, reverse=True):  # what reads a tensor comes behind it
            if self._spoiled_nothing(row, fine):
                fine.add(row)
        return lost - fine

    def _spoiled_nothing(self, row: int, fine: set[int]) -> bool:
        """Whether ops read the tensor at `row`, and all they gave is fine or among the rows in `fine`."""
        node = self._lineage.node(row)
        if node is None:
            return False
        slot = self._run.tensors[row].name.slot
        readers = [reader for reader, at in self._lineage.graph_of(node).consumers(node.name) if at == slot]
        gave = [[*self._run.tensors.named(reader.name)] for reader in readers]
        return bool(gave) and all(gave) and all(one in fine or self._is_fine(one) for rows in gave for one in rows)

    def _is_fine(self, row: int) -> bool:
        return not self._verdicts.offends(row) and row not in self._verdicts.unread
