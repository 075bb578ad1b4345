"""Which tensor of one run is which of another, and which have no other."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.analysis.pairing.node_pairs import Pairs, pair_places
from tfdbg_cli.analysis.pairing.renames import Renames
from tfdbg_cli.analysis.pairing.sides import Side
from tfdbg_cli.model.dtypes import HANDLES
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import NoValue, Value

RowPair = tuple[int, int]
_WHOLE = frozenset({"int32", "int64"})
_MOST_BYTES = 512  # of what says how a graph is built


@dataclass(frozen=True)
class TensorPairs:
    """The rows of two stores paired, in an order in which both ran; and the rows that have no other.

    A copy more or less of a tensor that is paired is nothing that only one of them has, nor is one on its way between
    devices. `nodes` are the names of the
    paired nodes, `unused_lines` those of the map that fit nothing.
    """

    rows: Sequence[RowPair]
    only_first: Sequence[int]
    only_second: Sequence[int]
    nodes: Sequence[tuple[str, str]]
    unused_lines: Sequence[int] = ()


def paired_tensors(first: Run, second: Run, renames: Renames) -> TensorPairs:
    """The tensors of two runs, paired."""
    sides = _side(first), _side(second)
    stores = first.tensors, second.tensors

    def content(side: int, place: int) -> Hashable:
        return _content(stores[side], sides[side].places[place].name)

    pairs = pair_places(sides, renames, content)
    nodes = [(sides[0].places[a].name, sides[1].places[b].name) for a, b in sorted(pairs.second.items())]
    copies, spare = _paired_copies(pairs)
    moved = set(sides[0].transfers()) & set(sides[1].transfers())
    copies += [(name, name) for name in sides[0].transfers() if name in moved]
    rows: list[RowPair] = []
    left: tuple[set[int], set[int]] = set(range(len(stores[0]))), set(range(len(stores[1])))
    for one, two in (*nodes, *copies):
        for a, b in _rows_of(stores, one, two):
            if _is_of_another_shape(stores, a, b):
                continue
            rows.append((a, b))
            left[0].discard(a)
            left[1].discard(b)
    for side, names in enumerate(spare):
        names.extend(name for name in sides[side].transfers() if name not in moved)
        left[side].difference_update(row for name in names for row in stores[side].named(name))
    only = [
        sorted(row for row in left[side] if stores[side][row].dtype not in HANDLES) for side in (0, 1)
    ]  # a handle is no number
    return TensorPairs(_in_order(rows, stores), only[0], only[1], [*nodes, *copies], pairs.unused_lines)


def _side(run: Run) -> Side:
    return Side(run.graph, run.tensors, run.call.fetches if run.call.results_known else ())


def _content(store: TensorStore, name: str) -> Hashable:
    rows = store.named(name, 0)
    return content_of(store.value(rows[0])) if rows else None


def content_of(value: Value) -> Hashable:
    """Something that is equal where values are, to the last bit; None for none."""
    if isinstance(value, NoValue):
        return None
    digest = hashlib.blake2b(digest_size=16)
    if value.dtype.hasobject:
        digest.update(repr(value.tolist()).encode())
    else:
        digest.update(np.ascontiguousarray(value).view(np.uint8).data if value.ndim else value.tobytes())
    return value.shape, value.dtype.name, digest.digest()


def _paired_copies(pairs: Pairs) -> tuple[list[tuple[str, str]], tuple[list[str], list[str]]]:
    """Copies of paired tensors, and those that are left of them: they may be more on one side.

    Those of one kind of numbers are paired by name, else one by one where both have as many; then so is what is left.
    A counter in the name says nothing: `Cast_1` may give integers in one run, and complex numbers in the other.
    """
    groups: dict[tuple[int, int], tuple[list[str], list[str]]] = {}
    for at, side in enumerate(pairs.sides):
        for name in side.copies():
            original = side.original(name)
            place = side.index.get(original.node)
            if place is None:
                continue
            key = place if at == 0 else pairs.first.get(place)
            if key is not None and key in pairs.second:
                groups.setdefault((key, original.slot), ([], []))[at].append(name)
    found: list[tuple[str, str]] = []
    spare: tuple[list[str], list[str]] = [], []
    for ours, theirs in groups.values():
        left: tuple[list[str], list[str]] = [], []
        for kind in dict.fromkeys([*map(pairs.sides[0].kind_of, ours), *map(pairs.sides[1].kind_of, theirs)]):
            one = [name for name in ours if pairs.sides[0].kind_of(name) == kind]
            two = [name for name in theirs if pairs.sides[1].kind_of(name) == kind]
            found += _by_name_or_order(one, two, left)
        found += _by_name_or_order(*left, spare)
    return found, spare


def _by_name_or_order(
    ours: Sequence[str], theirs: Sequence[str], left: tuple[list[str], list[str]]
) -> list[tuple[str, str]]:
    """Names paired that are the same, the rest one by one where both have as many; else they are added to `left`."""
    same = set(ours) & set(theirs)
    rest = [[name for name in names if name not in same] for names in (ours, theirs)]
    found = [(name, name) for name in ours if name in same]
    if len(rest[0]) == len(rest[1]):
        return [*found, *zip(rest[0], rest[1], strict=True)]
    left[0].extend(rest[0])
    left[1].extend(rest[1])
    return found


def _rows_of(stores: tuple[TensorStore, TensorStore], one: str, two: str) -> list[RowPair]:
    """The tensors of two nodes: by slot, device and execution; where the devices differ, in order.

    Of a variable that one run shows after each update, and the other after all of them, the last are compared.
    """
    named = [store.named(name) for store, name in zip(stores, (one, two), strict=True)]
    updated = all(rows and stores[at][rows[0]].op_type == UPDATED_VARIABLE for at, rows in enumerate(named))
    if updated and len(named[0]) != len(named[1]) and 1 in map(len, named):
        return [(named[0][-1], named[1][-1])]
    keyed = [
        {(store[row].slot, store[row].device, store[row].execution): row for row in store.named(name)}
        for store, name in zip(stores, (one, two), strict=True)
    ]
    found = [(row, other) for key, row in keyed[0].items() if (other := keyed[1].get(key)) is not None]
    taken = {a for a, _ in found}, {b for _, b in found}
    left: list[dict[int, list[int]]] = [{}, {}]
    for side, rows in enumerate(keyed):
        for (slot, _, _), row in rows.items():
            if row not in taken[side]:
                left[side].setdefault(slot, []).append(row)
    for slot, rows_left in left[0].items():
        found += zip(sorted(rows_left), sorted(left[1].get(slot, [])), strict=False)
    return found


def _is_of_another_shape(stores: tuple[TensorStore, TensorStore], one: int, two: int) -> bool:
    """Whether one is a constant and the other computed, both of few whole numbers that differ: shapes and axes.

    What is known when a function is traced becomes a constant there, which eager code computes. Counters of names put
    such a constant beside the wrong op; it is no number of the model, and what reads it is compared.
    """
    tensors = stores[0][one], stores[1][two]
    if sum(tensor.op_type == "Const" for tensor in tensors) != 1:
        return False
    if any(tensor.dtype not in _WHOLE or (tensor.nbytes or 0) > _MOST_BYTES for tensor in tensors):
        return False
    values = stores[0].value(one), stores[1].value(two)
    if isinstance(values[0], NoValue) or isinstance(values[1], NoValue):
        return False
    return not np.array_equal(values[0], values[1])


def _in_order(rows: Sequence[RowPair], stores: tuple[TensorStore, TensorStore]) -> list[RowPair]:
    """By when they ran in both: what is first in one alone need not have been so in the other."""
    ranks: list[dict[int, int]] = []
    for side in (0, 1):
        ranks.append({row: rank for rank, row in enumerate(sorted(pair[side] for pair in rows))})
    places = {pair: (ranks[0][pair[0]], ranks[1][pair[1]]) for pair in rows}

    def facts(pair: RowPair) -> list[tuple[str, ...]]:
        tensors = [store[row] for store, row in zip(stores, pair, strict=True)]
        return sorted((str(one.name), one.op_type, one.dtype, str(one.shape)) for one in tensors)

    # Whichever of both runs comes first, the order is the same.
    return sorted(rows, key=lambda pair: (sum(places[pair]), max(places[pair]), facts(pair), places[pair]))
