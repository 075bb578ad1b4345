"""What the tensors of a run were made of, with the values: those that were asked for last."""

from __future__ import annotations

from collections import OrderedDict

from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage

_MOST_BYTES = 256 << 20  # of values, which may be the only ones of their kind: computed, or read from a file


class InputsRead:
    """The inputs of tensors by `lineage`, kept as long as 256 MB hold their values; at least the last ones."""

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._kept: OrderedDict[int, list[InputSeen]] = OrderedDict()
        self._bytes = 0

    def of(self, index: int) -> list[InputSeen]:
        """What the tensor at `index` was made of."""
        found = self._kept.get(index)
        if found is None:
            found = self._kept[index] = self._lineage.inputs(index)
            self._bytes += _bytes(found)
            while self._bytes > _MOST_BYTES and len(self._kept) > 1:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= _bytes(oldest)
        return found


def _bytes(inputs: list[InputSeen]) -> int:
    return sum(item.value.nbytes for item in inputs if item.value is not None)
