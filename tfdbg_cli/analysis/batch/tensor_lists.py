"""Lists of tensors, in which loops gather what their turns made (tf.TensorArray): what went in, what came out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.analysis.graph.axes.row_ways import WHOLE
from tfdbg_cli.analysis.graph.flow.puts import PUTS, puts_before, puts_by_handle
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.making.parts import Index
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array, NoValue

_BEHIND_PLACE = 2  # an item that stands behind its place in the list
# Ops that take out of a list, and whether they take all of it.
_TAKES = {
    "TensorListStack": True, "TensorListGetItem": False, "TensorArrayGatherV3": True, "TensorArrayReadV3": False,
}  # fmt: skip


@dataclass(frozen=True)
class ListItem:
    """A tensor of the run that went into a list: at `place`, or as the `whole` list, whose axis is its first one."""

    row: int
    place: int
    whole: bool = False


class TensorLists:
    """What went into the lists of `run`, and came out of them."""

    def __init__(self, run: Run, lineage: Lineage) -> None:
        self._run = run
        self._lineage = lineage
        self._known: dict[int, list[ListItem]] = {}
        self._put: dict[str, dict[int, list[int]]] = {}

    def items(self, index: int) -> list[ListItem]:
        """What the tensor at `index` is out of a list: one item, or all of them; empty for other tensors."""
        found = self._known.get(index)
        if found is None:
            found = self._known[index] = self._find(index)
        return found

    def takes(self, node: Node) -> bool:
        """Whether `node` takes something out of a list."""
        return node.op_type in _TAKES

    def behind(self, index: int, axis: int, rows: Array) -> Iterator[tuple[int, int, Array]]:
        """The tensors whose rows became `rows` along `axis` of the one at `index`: of each the axis, and which."""
        node = self._lineage.node(index)
        all_taken = node is not None and _TAKES.get(node.op_type, False)
        for item in self.items(index):
            if all_taken and (item.whole or axis > 0):
                # A stack has the list as its first axis; so has a tensor that was made a list.
                yield item.row, axis if item.whole else axis - 1, rows
            elif all_taken and axis == 0 and item.place in rows:
                yield item.row, WHOLE, rows[:0]
            elif not all_taken and item.whole:
                yield (item.row, 0, np.array([item.place])) if axis == WHOLE else (item.row, axis + 1, rows)
            elif not all_taken:
                yield item.row, axis, rows

    def element(self, index: int, element: Index) -> tuple[int, Index] | None:
        """The tensor that went into a list, and the place in it, from which `element` of the one at `index` came."""
        node = self._lineage.node(index)
        if node is None or not _TAKES.get(node.op_type, False) or not element:
            return None
        for item in self.items(index):
            if item.whole or item.place == element[0]:
                return item.row, element if item.whole else element[1:]
        return None

    def _find(self, index: int) -> list[ListItem]:
        node = self._lineage.node(index)
        if node is None or node.op_type not in _TAKES:
            return []
        lineage = self._lineage
        if "Array" in node.op_type:
            puts = puts_by_handle(node, lineage.graph_of(node), lineage.edges, PUTS)
        else:
            puts = puts_before(node, lineage.edges, PUTS, all_of_them=True)
        wanted = None if _TAKES[node.op_type] else self._number(self._lineage.places(index)[1:2])
        if wanted is None and not _TAKES[node.op_type]:
            return []
        found: dict[int, ListItem] = {}
        for put in puts:
            position, whole = PUTS[put.op_type]
            if whole:
                item = next(iter(lineage.inputs_before(put, index)[position : position + 1]), None)
                if item is not None and item.index is not None:
                    return [ListItem(item.index, wanted or 0, whole=True)]
                continue
            rows = self._rows_put(put, position)
            for place in rows if wanted is None else {wanted} & rows.keys():
                before = bisect_left(rows[place], index)
                if before:
                    found[place] = ListItem(rows[place][before - 1], place)
        return list(found.values())

    def _rows_put(self, put: Node, position: int) -> dict[int, list[int]]:
        """By its place in the list what `put` put there in the turns of its loop, in order of execution."""
        known = self._put.get(put.name)
        if known is not None:
            return known
        edges, store = self._lineage.edges(put), self._run.tensors
        known = self._put[put.name] = {}
        if position >= len(edges):
            return known
        places: dict[int, int | None] = {}
        if position == _BEHIND_PLACE:
            where = edges[1].tensor
            places = {store[row].execution: self._value(row) for row in store.named(where.node, where.slot)}
        name = edges[position].tensor
        for turn, row in enumerate(store.named(name.node, name.slot)):
            place = places.get(store[row].execution)
            known.setdefault(turn if place is None else place, []).append(row)
        return known

    def _number(self, items: Sequence[InputSeen]) -> int | None:
        """The value of the first of `items`, a whole number."""
        item = next(iter(items), None)
        if item is None:
            return None
        return self._value(item.index) if item.index is not None else None

    def _value(self, row: int) -> int | None:
        value = self._run.tensors.value(row)
        if isinstance(value, NoValue) or value.size != 1 or value.dtype.kind not in "iu":
            return None
        return int(value.reshape(-1)[0])
