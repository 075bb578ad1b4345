"""Whether what eager ops were given beside a batch stands row for row with it.

A program hands its data to ops one by one, in whatever order: labels that it has put in another order than the
inputs, the order itself, a list of axes. That something has as many rows as the batch says little then. It is
followed forward instead, through ops that keep rows apart, and compared with the way that led back to the batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from enum import IntEnum, auto
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.batch.rows import BatchRows
from tfdbg_cli.analysis.graph.axes.kept_axes import ways_back
from tfdbg_cli.analysis.graph.axes.row_ways import RowSet, Way, whole_numbers
from tfdbg_cli.analysis.graph.feeds import feed_name
from tfdbg_cli.analysis.graph.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.parts import ELEMENTWISE
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.ops.kinds import GATHERS, MOVES, SAME_VALUE, TRUTHS

_MOST_TENSORS = 100  # that are computed of one value, and looked at
_MOST_TRIED = 500  # rows of a batch of which it is tried where each came from
_KEEP_NUMBERS = MOVES | SAME_VALUE.keys()

_Rows: TypeAlias = tuple[int, ...]


class Evidence(IntEnum):
    """Whether something stands row for row with a batch; of several findings the last here counts."""

    NONE = auto()
    RATHER_FOR = auto()  # it is used in that order, but not together with the batch
    RATHER_AGAINST = auto()  # it is used in another order, but not together with the batch
    AGAINST = auto()
    FOR = auto()


class Alongside:
    """The values beside one batch."""

    def __init__(self, run: Run, batch: BatchRows) -> None:
        self._run = run
        self._lineage = Lineage(run)
        self._batch = batch
        self._source = tensor_name_of(batch.source)
        # The rows of the batch, and where they were when ops had put them in another order.
        self._orders: dict[_Rows, None] = dict.fromkeys([batch.rows, *batch.way.values(), *self._next_orders()])

    def keeps_rows(self, name: str) -> Evidence:
        """Whether what was given as `name` has for each row of the batch its own, in the order of the batch."""
        first = tensor_name_of(name)
        if self._orders_rows(first):
            return Evidence.AGAINST
        waiting: deque[tuple[TensorName, _Rows]] = deque([(first, self._batch.rows)])
        met: set[TensorName] = set()
        found = Evidence.NONE
        while waiting and len(met) < _MOST_TENSORS:
            tensor, rows = waiting.popleft()
            for made, positions in self._readers(tensor):
                further = self._run.tensors[made].name
                known, became = self._became(made, positions, rows)
                if not known or further in met:
                    continue
                met.add(further)
                on_the_way = made in self._batch.way
                if became is None:
                    found = max(found, Evidence.AGAINST if on_the_way else Evidence.RATHER_AGAINST)
                elif on_the_way:  # which it may join in another order, too, as where examples are mixed
                    return Evidence.FOR
                else:
                    found = max(found, Evidence.RATHER_FOR)
                    waiting.append((further, became))
        return found

    def _readers(self, tensor: TensorName) -> Iterator[tuple[int, set[int]]]:
        """The tensors that are made of `tensor`, and the positions at which their ops read it."""
        for reader, slot in self._run.graph.consumers(tensor.node):
            for made in self._run.tensors.named(reader.name) if slot == tensor.slot else ():
                inputs = enumerate(self._lineage.places(made))
                yield made, {at for at, item in inputs if tensor in (item.name, feed_name(item.node))}

    def _became(self, made: int, positions: set[int], rows: _Rows) -> tuple[bool, _Rows | None]:
        """What `rows` of the inputs at `positions` are in the tensor `made`; None: others. And whether that is known.

        They are looked for where rows of the batch are, in `made` or elsewhere.
        """
        node, own = self._lineage.node(made), self._batch.way.get(made)
        if node is None or (self._run.tensors[made].shape or ())[:1] != (self._batch.size,):
            return False, None
        known = False
        for order in self._orders if own is None else (own,):
            ways = self._ways(node, made, order)
            read = [way for way in ways if way.position in positions]
            if any(tuple(map(int, way.rows)) == rows for way in read):
                return True, order
            # Of an op that computes element by element an input of fewer axes has no way, and may be a row itself.
            known = known or bool(read) or (bool(ways) and node.op_type not in ELEMENTWISE | TRUTHS)
        return known, None

    def _ways(self, node: Node, made: int, rows: _Rows) -> list[Way]:
        inputs, tensor = self._lineage.places(made), self._run.tensors[made]
        shapes = [item.shape for item in inputs]
        step = RowSet(
            node,
            tensor.slot,
            tensor.shape or (),
            0,
            np.array(rows),
            shapes,
            lambda at: whole_numbers(self._run, inputs, at),
        )
        return [way for way in ways_back(step) if way.axis == 0 and way.position < len(inputs)]

    def _next_orders(self) -> Iterator[_Rows]:
        """Where the rows of the batch are in what was made of it, as far as that is quickly tried."""
        if self._batch.size > _MOST_TRIED:
            return
        for made, positions in self._readers(self._source):
            node = self._lineage.node(made)
            if node is not None and (self._run.tensors[made].shape or ())[:1] == (self._batch.size,):
                came = {
                    row: [
                        int(one)
                        for way in self._ways(node, made, (row,))
                        if way.position in positions
                        for one in way.rows
                    ]
                    for row in range(self._batch.size)
                }
                yield tuple(row for row, rows in came.items() if rows and set(rows) <= set(self._batch.rows))

    def _orders_rows(self, tensor: TensorName) -> bool:
        """Whether `tensor` says which rows of a batch, or of what else was given, an op is to take."""
        waiting, met = deque([tensor]), {tensor}
        while waiting and len(met) < _MOST_TENSORS:
            for made, positions in self._readers(waiting.popleft()):
                node, inputs = self._lineage.node(made), self._lineage.places(made)
                if node is None:
                    continue
                if node.op_type in GATHERS and 1 in positions and self._is_given(inputs[0]):
                    return True
                further = self._run.tensors[made].name
                if node.op_type in _KEEP_NUMBERS and further not in met:
                    met.add(further)
                    waiting.append(further)
        return False

    def _is_given(self, item: InputSeen) -> bool:
        """Whether an input of an op is no parameter, but given as the batch is, or made of that."""
        if item.index in self._batch.way or item.name == self._source:
            return True
        fed = item.node is not None and item.index is None and not self._lineage.is_variable(item.node)
        return fed and (item.shape or ())[:1] == (self._batch.size,)
