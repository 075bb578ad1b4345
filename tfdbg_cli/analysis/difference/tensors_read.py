"""Which tensors an op of a run read, of those that the run holds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from tfdbg_cli.analysis.graph.flow.puts import PUTS, puts_before
from tfdbg_cli.analysis.graph.flow.updates_within import before
from tfdbg_cli.analysis.graph.nodes.neighbours import neighbours_of
from tfdbg_cli.analysis.pairing.families import SOURCE, family_of
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.dtypes import may_have_fractions
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import UPDATED_VARIABLE, after_update
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.kinds import VARIABLE_READS

MOST_LOOKED_THROUGH = 200  # nodes without a tensor, on the way to what a tensor was made of
_LIST = "variant"  # the type of a list, which has no value of its own
_MOST_TURNS = 32  # of a loop that put items into a list
_REPLACES = "AssignVariableOp"  # what the variable held before does not matter to it

TensorRead: TypeAlias = tuple[TensorName, int | None]
"""A tensor that an op read, and its row; None where the run holds none."""


class TensorsRead:
    """The tensors that the ops of `run` read."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._store = run.tensors
        self._known_writers: dict[str, list[Node]] = {}  # by the node that reads behind them

    def node(self, row: int) -> Node | None:
        """The op that gave the tensor at `row`, if the graph has it."""
        tensor, graph = self._store[row], self._run.graph
        return graph.find(tensor.node, tensor.device) or graph.find(tensor.node)

    def of(self, node: Node, row: int) -> list[TensorRead]:
        """The tensors that `node` read to give the tensor at `row`: each with its last row before that one.

        Through nodes that show no tensor, to what they were made of. What a variable holds was made of what was
        written into it, and of what it held before.
        """
        found: list[TensorRead] = []
        edges = neighbours_of(self._run.graph)
        written = self._written(node, row)
        if written:
            return written
        if node.op_type == UPDATED_VARIABLE:
            return [*self._given_to(node, row), *self._held(node, self._writers(node), row)]
        if family_of(node) == SOURCE:  # a variable is read by its handle, which is no number
            writers = self._writers_before(node)
            given = [one for writer in writers for one in self._given_to(writer, row)]
            return [*given, *self._held(node, writers, row)]
        for edge in edges.inputs(node):
            name = edge.tensor
            read = self._before(name, row)
            if read is None and edge.node is not None:
                name, read = self._through(edge.node, name, row)
            is_list = read is None or self._store[read].dtype == _LIST
            found += (self._in_list(node, row) if is_list else ()) or [(name, read)]
        return found

    def _in_list(self, node: Node, row: int) -> list[TensorRead]:
        """What had been put into the list from which `node` took the tensor at `row`; of a loop its latest turns."""
        if not node.op_type.startswith("TensorList") or node.op_type in PUTS:
            return []
        found: list[TensorRead] = []
        edges = neighbours_of(self._run.graph).inputs
        for put in puts_before(node, edges, PUTS, all_of_them=True):
            item = edges(put)[PUTS[put.op_type][0]].tensor
            rows = self._store.named(item.node, item.slot)
            found += [(item, at) for at in rows[: bisect_left(rows, row)][-_MOST_TURNS:]]
        return found

    def before_casts(self, row: int) -> int:
        """The row of the number that the tensor at `row` is, before it was cast to other digits; mostly `row`."""
        node = self.node(row)
        while node is not None and node.op_type == "Cast" and may_have_fractions(self._store[row].dtype):
            edges = neighbours_of(self._run.graph).inputs(node)  # none where a graph is damaged or cut off
            read = self._before(edges[0].tensor, row) if edges else None
            if read is None or not may_have_fractions(self._store[read].dtype):
                break
            row, node = read, edges[0].node
        return row

    def _given_to(self, update: Node, row: int) -> list[TensorRead]:
        given = [edge.tensor for edge in neighbours_of(self._run.graph).inputs(update)[1:]]
        return [(name, at) for name in given if (at := self._before(name, row)) is not None]

    def _written(self, read: Node, row: int) -> list[TensorRead]:
        """What the last update before `read` made the variable that it gives, where ops ran one after the other.

        That is what was written and what the variable held before, as in a function; or the variable after it, where
        it is not known what was written.
        """
        if self._run.call.kind is not RunKind.EAGER or read.op_type not in VARIABLE_READS or not read.inputs:
            return []
        here = self._places.get(read.name, 0)
        writers = [node for node in self._writers(read) if self._places.get(node.name, here) < here]
        last = max(writers, key=lambda node: self._places[node.name], default=None)
        given = [] if last is None else self._given_to(last, row)
        if last is None or not given:
            shown = TensorName(after_update(read.inputs[0].node), 0)
            at = bisect_left(self._store.named(shown.node, shown.slot), row)
            return [(shown, self._store.named(shown.node, shown.slot)[at - 1])] if at else []
        if last.op_type == _REPLACES:
            return given
        readers = [
            node for node, _ in self._run.graph.consumers(read.inputs[0].node) if node.op_type in VARIABLE_READS
        ]
        before_it = [node for node in readers if self._places.get(node.name, here) < self._places[last.name]]
        held = max(before_it, key=lambda node: self._places[node.name], default=None)
        shown_before = None if held is None else self._before(TensorName(held.name, 0), row)
        return given if held is None or shown_before is None else [*given, (TensorName(held.name, 0), shown_before)]

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """The places of the nodes in the graph: of eager code, the order in which they ran."""
        return {node.name: place for place, node in enumerate(self._run.graph)}

    def _held(self, node: Node, writers: Sequence[Node], row: int) -> list[TensorRead]:
        """What the variable of `node` held before the `writers`, which add to that: as it was last shown."""
        if not writers or any(writer.op_type == _REPLACES for writer in writers):
            return []
        readers = [reader for reader, _ in self._run.graph.consumers(node.inputs[0].node) if reader is not node]
        shown = [one for one in readers if one.op_type in VARIABLE_READS and not self._writers_before(one)]
        names = [TensorName(one.name, 0) for one in shown] + [TensorName(after_update(node.inputs[0].node), 0)]
        rows = [(at, name) for name in names if (at := self._before(name, row)) is not None and at < row]
        return [(name, at) for at, name in sorted(rows, key=lambda one: one[0])[-1:]]

    def _writers(self, node: Node) -> list[Node]:
        """The ops that write the variable that `node` gives."""
        readers = (reader for reader, _ in self._run.graph.consumers(node.inputs[0].node)) if node.inputs else ()
        return [reader for reader in readers if updates_variable(reader.op_type)]

    def _writers_before(self, read: Node) -> list[Node]:
        """The ops that wrote the variable that `read` gives, before it in the same run: it gives what they wrote."""
        if read.op_type not in VARIABLE_READS:
            return []
        if read.name not in self._known_writers:  # each update of a variable asks of all that read it
            writers = {node.name: node for node in self._writers(read)}
            earlier = before((self._run.graph,), read.name, writers)
            self._known_writers[read.name] = [node for name, node in writers.items() if name in earlier]
        return self._known_writers[read.name]

    def _before(self, name: TensorName, row: int) -> int | None:
        rows = self._store.named(name.node, name.slot)
        at = bisect_left(rows, row)
        if at == 0 and len(rows) == 1 and rows[0] != row:
            return rows[0]  # devices have clocks of their own
        return rows[at - 1] if at else None

    def _through(self, node: Node, name: TensorName, row: int) -> TensorRead:
        """The only tensor that `node`, which shows none, was made of; itself without a row where that is not told."""
        edges = neighbours_of(self._run.graph)

        def further(one: Node) -> list[Node]:
            if self._store.named(one.name):
                return []
            return [edge.node for edge in edges.inputs(one) if edge.node is not None]

        met = list(reached([node], further, most=MOST_LOOKED_THROUGH))
        shown = [one for one in met if self._store.named(one.name)]
        if len(shown) == 1:
            found = TensorName(shown[0].name, 0)
            return found, self._before(found, row)
        return name, None
