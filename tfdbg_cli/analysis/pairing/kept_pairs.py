"""Pairs of runs that are told at once where runs of the same graphs were paired before, and nothing is new."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from tfdbg_cli.analysis.pairing.renames import Renames
from tfdbg_cli.analysis.pairing.tensor_pairs import TensorPairs, content_of, paired_tensors
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Tensor, TensorStore
from tfdbg_cli.model.values import Value

_MOST = 4  # pairs of graphs, such as those of training and of evaluation in turns


class KeptPairs:
    """Pairs the tensors of one pair of runs after the other, by the same `renames`.

    What tensors are called and look like in runs of one function is the same in each. The pairing looks at those, and
    at a few values: where all that it looked at the last time is as it was, so is what it would say.
    """

    def __init__(self, renames: Renames) -> None:
        self._renames = renames
        self._kept: OrderedDict[tuple[int, int], _Pairing] = OrderedDict()

    def paired(self, first: Run, second: Run) -> TensorPairs:
        """The tensors of two runs, paired as `paired_tensors` does."""
        key = id(first.graph), id(second.graph)  # a kept pairing holds its graphs, so that no other has their numbers
        known = self._kept.pop(key, None)
        if known is None or not known.holds((first, second)):
            looked_at = _LookedAt(first.tensors), _LookedAt(second.tensors)
            runs = replace(first, tensors=looked_at[0]), replace(second, tensors=looked_at[1])
            pairs = paired_tensors(*runs, self._renames)
            known = _Pairing((first, second), pairs, (looked_at[0].contents, looked_at[1].contents))
        self._kept[key] = known
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return known.pairs


@dataclass(frozen=True)
class _Pairing:
    """The `pairs` of two runs, and by row the `contents` of the values that told something of them, on each side."""

    runs: tuple[Run, Run]
    pairs: TensorPairs
    contents: tuple[Mapping[int, Hashable], Mapping[int, Hashable]]

    def holds(self, runs: tuple[Run, Run]) -> bool:
        """Whether `runs`, of the same graphs, look the same to a pairing."""
        return all(
            _results(known) == _results(run)
            and _look_alike(known.tensors, run.tensors)
            and all(content_of(run.tensors.value(row)) == content for row, content in contents.items())
            for known, run, contents in zip(self.runs, runs, self.contents, strict=True)
        )


def _results(run: Run) -> Sequence[str]:
    return run.call.fetches if run.call.results_known else ()


def _look_alike(known: TensorStore, other: TensorStore) -> bool:
    return len(known) == len(other) and all(_look(known[row]) == _look(other[row]) for row in range(len(known)))


def _look(tensor: Tensor) -> Hashable:
    """All of a tensor but when it was made."""
    return tensor.name, tensor.device, tensor.execution, tensor.dtype, tensor.shape, tensor.nbytes, tensor.op_type


class _LookedAt:
    """The tensors of `store`, and the contents of those whose values somebody looked at."""

    def __init__(self, store: TensorStore) -> None:
        self.contents: dict[int, Hashable] = {}
        self._store = store

    def __len__(self) -> int:
        return len(self._store)

    def __getitem__(self, index: int) -> Tensor:
        return self._store[index]

    def value(self, index: int) -> Value:
        """The value, which is noted."""
        value = self._store.value(index)
        self.contents[index] = content_of(value)
        return value

    def named(self, node: str, slot: int | None = None) -> Sequence[int]:
        """As the store has them."""
        return self._store.named(node, slot)

    def nodes(self) -> Sequence[str]:
        """As the store has them."""
        return self._store.nodes()
