"""Puts the values from inside calls between those of the graph that makes the calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfdbg_cli.analysis.watch.training_filters import UPDATED_VARIABLE
from tfdbg_cli.capture.stores import gathered
from tfdbg_cli.model.tensors import TensorStore


def with_inside(tensors: TensorStore, order: Sequence[str], inside: Mapping[str, TensorStore]) -> TensorStore:
    """The values of `tensors`, with those computed in a call before what the call gives.

    Args:
        tensors: the values of the graph; the variables after their update are the last.
        order: the names of its ops, inputs first.
        inside: by the name of an op, the values in what it calls, in order of execution; those that are among
            `tensors` are left out.

    """
    places = {name: at for at, name in enumerate(order)}
    waiting = [name for name in order if name in inside]
    own = {str(tensors[row].name) for row in range(len(tensors))}
    kept: list[tuple[TensorStore, int]] = []

    def add_before(place: float) -> None:
        while waiting and places[waiting[0]] <= place:
            store = inside[waiting.pop(0)]
            kept.extend((store, row) for row in range(len(store)) if str(store[row].name) not in own)

    for row in range(len(tensors)):
        last = tensors[row].op_type == UPDATED_VARIABLE
        add_before(len(order) if last else places.get(tensors[row].node, -1))
        kept.append((tensors, row))
    add_before(len(order))
    return gathered(kept)
