"""The tensors of a run, some of them computed again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from tfdbg_cli.model.gathered import GatheredTensors, Row
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, TensorStore, nbytes_of
from tfdbg_cli.model.values import NoValue, Value


def merged(
    store: TensorStore, again: TensorStore, place_of: Callable[[TensorName], str], moved: Collection[str] = ()
) -> GatheredTensors:
    """The tensors of `store`, with those of `again` in their places.

    Args:
        store: the run's.
        again: what was computed again, in order of execution.
        place_of: the loop or branch that a tensor is made in, by the name of its node; empty if in none.
        moved: loops and branches that were computed again: they may have made another number of turns than before.

    """
    found: dict[TensorName, list[int]] = {}
    turns: dict[str, list[int]] = {place: [] for place in moved}
    for row in range(len(again)):
        name = again[row].name
        place = place_of(name)
        if place in turns:
            turns[place].append(row)
        else:
            found.setdefault(name, []).append(row)
    rows: list[Row] = []
    for index in range(len(store)):
        name = store[index].name
        place = place_of(name)
        if place in moved or name.node in moved:
            rows.extend((again, row) for row in turns.pop(place or name.node, ()))
        if place in moved:
            continue
        replacement = found.get(name)
        rows.append((again, replacement.pop(0)) if replacement else (store, index))
    for left in turns.values():  # nothing of it was shown before
        rows.extend((again, row) for row in left)
    return GatheredTensors(rows)


def with_values(store: TensorStore, values: Mapping[TensorName, Value]) -> MemoryTensorStore:
    """A store of the tensors of `store` that are named in `values`, with those values."""
    rows = [row for name in values for row in store.named(name.node, name.slot)]
    tensors = [store[row] for row in rows]
    return MemoryTensorStore(
        [_described(tensor, values[tensor.name]) for tensor in tensors], [values[tensor.name] for tensor in tensors]
    )


def _described(tensor: Tensor, value: Value) -> Tensor:
    if isinstance(value, NoValue):
        return tensor
    return replace(tensor, shape=value.shape, nbytes=nbytes_of(value))
