"""What calls of a session's graph computed inside, laid among the values of the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tfdbg_cli.capture.stores import gathered
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.updates import UPDATED_VARIABLE


@dataclass(frozen=True)
class InsideValues:
    """The `values` that a call computed inside, in order of execution.

    Where the call is in a loop of version 1, its turns begin at the rows `starts`.
    """

    values: TensorStore
    starts: tuple[int, ...] = ()

    def by_turn(self, turns: int) -> Sequence[range] | None:
        """The rows of each turn, for a call whose op has outputs in `turns` turns; None if it ran only once."""
        if max(turns, len(self.starts)) < 2:
            return None
        ends = (*self.starts[1:], len(self.values))
        return list(map(range, (0, *self.starts[1:]), ends))


def with_inside(tensors: TensorStore, order: Sequence[str], inside: Mapping[str, InsideValues]) -> TensorStore:
    """The values of `tensors`, with those computed in a call before what the call gives.

    Args:
        tensors: the values of the graph; the variables after their update are the last.
        order: the names of its ops, inputs first.
        inside: by the name of an op, the values inside of what it calls; those that `tensors` has are left out.

    """
    places = {name: at for at, name in enumerate(order)}
    own = {str(tensors[row].name) for row in range(len(tensors))}
    end = next((row for row in range(len(tensors)) if tensors[row].op_type == UPDATED_VARIABLE), len(tensors))
    before: dict[int, list[tuple[TensorStore, int]]] = {}
    waiting: list[str] = []

    def add(row: int, store: TensorStore, rows: Sequence[int]) -> None:
        added = ((store, at) for at in rows if str(store[at].name) not in own)
        before.setdefault(row, []).extend(added)

    for name in (name for name in order if name in inside):
        given = [
            row for row in tensors.named(name) if tensors[row].name.slot == tensors[tensors.named(name)[0]].name.slot
        ]
        turns = inside[name].by_turn(len(given))
        if turns is None:
            waiting.append(name)
        for turn, rows in enumerate(turns or ()):
            add(given[turn] if turn < len(given) else end, inside[name].values, rows)
    for row in range(end):
        while waiting and places[waiting[0]] <= places.get(tensors[row].node, -1):
            store = inside[waiting.pop(0)].values
            add(row, store, range(len(store)))
    for name in waiting:
        store = inside[name].values
        add(end, store, range(len(store)))
    kept: list[tuple[TensorStore, int]] = []
    for row in range(len(tensors)):
        kept += [*before.get(row, ()), (tensors, row)]
    return gathered(kept if end < len(tensors) else [*kept, *before.get(end, ())])
