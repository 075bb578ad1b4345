"""What a variable held at some moment of a call of a function, by the order in which the call read and wrote it.

TensorFlow orders all that reads or writes a variable in one function, one after the other. Of that order the graph
knows who waits for whom within one turn of a loop, and the run knows the turns: each region (the function itself, a
branch, the body of a loop) in which an op writes the variable ends with a tensor that shows it. So between two that
show it, one right behind the other, only ops of regions that have not ended by then can have written.
What follows from this order is compared with the values: where those differ, nothing is said.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.flow.last_update import region_shown
from tfdbg_cli.analysis.graph.flow.popped import equal_values
from tfdbg_cli.analysis.graph.flow.updates_within import before
from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.kinds import BRANCHES, LOOPS, VARIABLE_READS

_SHOW = frozenset({"ReadVariableOp", UPDATED_VARIABLE})  # ops whose tensors are a variable as it is then


@dataclass(frozen=True, slots=True)
class VariableState:
    """What a run had made of a variable: what its tensor at `row` shows, and then the ops `updates` changed it.

    `row` is None for what the variable held before the run; `updates` are in their order, and none where the variable
    is as at `row` still.
    """

    row: int | None
    updates: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Moments:
    """Where a run shows a variable: `rows` in order. `writers` are the ops that write it, with their regions."""

    rows: Sequence[int]
    ends: Sequence[int]  # those of `rows` that end a region
    writers: dict[str, str]


class VariableStates:
    """What variables held in the call of a function whose graph is `graph`, by its tensors in `store`."""

    def __init__(self, graph: Graph, store: TensorStore) -> None:
        self._graph = graph
        self._store = store
        self._moments: dict[str, _Moments] = {}
        self._behind: dict[tuple[str, str], frozenset[str]] = {}
        self._since: dict[tuple[str, str, str | None], tuple[str, ...]] = {}

    def written(self, index: int, node: Node) -> VariableState | None:
        """What the variable had become that the tensor at `index` shows, which `node` gave.

        None where the run had not written it by then, or where that cannot be told, and of nodes that show none.
        """
        if node.op_type not in _SHOW or not node.inputs:
            return None
        variable = node.inputs[0].node
        moments = self._moments_of(variable)
        if not self._may_be_written(moments, index, node, variable):
            return None
        first, first_row = node, index  # of those that show the variable as it is here
        held: int | None = None
        for row in self._rows_before(moments, index):
            shown = self._node(row)
            updates = self._between(variable, shown, first)
            if updates:
                held = row
                break
            if shown.op_type == UPDATED_VARIABLE:
                return self._alike(row, index)
            first, first_row = shown, row
        else:
            updates = self._between(variable, None, first)
            if not updates:
                return None
        if node.op_type != UPDATED_VARIABLE:
            end = self._shown_after(moments, index, node, variable)
            if end is not None:
                return VariableState(end)
            if first_row != index:
                return self._alike(first_row, index)
        return VariableState(held, updates)

    def when_read(self, index: int, node: Node, variable: str) -> VariableState | None:
        """As `written`, of a `variable` of which `node` gives a part, as a gather does."""
        if node.op_type not in VARIABLE_READS - _SHOW:
            return None
        moments = self._moments_of(variable)
        if not self._may_be_written(moments, index, node, variable):
            return None
        row = next(self._rows_before(moments, index), None)
        updates = self._between(variable, None if row is None else self._node(row), node)
        end = self._shown_after(moments, index, node, variable) if updates else None
        return VariableState(row, updates) if end is None else VariableState(end)

    def _alike(self, row: int, index: int) -> VariableState | None:
        return VariableState(row) if equal_values(self._store, row, index) else None

    def _may_be_written(self, moments: _Moments, index: int, node: Node, variable: str) -> bool:
        """Whether an op of this run may have written the variable before the tensor at `index`."""
        if not moments.writers:
            return False
        return bool(moments.ends and moments.ends[0] < index) or bool(self._between(variable, None, node))

    def _shown_after(self, moments: _Moments, index: int, node: Node, variable: str) -> int | None:
        """The row behind `index` that ends a region and shows what `node` read: nothing wrote in between."""
        last = node
        for row in moments.rows[bisect_left(moments.rows, index + 1) :]:
            shown = self._node(row)
            if self._between(variable, last, shown):
                return None
            if shown.op_type == UPDATED_VARIABLE:
                is_it = node.op_type not in _SHOW or equal_values(self._store, row, index)
                return row if is_it else None
            last = shown
        return None

    def _rows_before(self, moments: _Moments, index: int) -> Iterator[int]:
        """The rows before `index` that show the variable, the last one first."""
        for place in range(bisect_left(moments.rows, index) - 1, -1, -1):
            yield moments.rows[place]

    def _between(self, variable: str, earlier: Node | None, later: Node) -> tuple[str, ...]:
        """The ops that write `variable` between a tensor of `earlier` (None: the start) and the next one of `later`.

        No tensor that shows the variable lies between the two.
        """
        key = (variable, later.name, None if earlier is None else earlier.name)
        if key not in self._since:
            writers = self._moments_of(variable).writers
            found = [name for name, region in writers.items() if self._writes(variable, name, region, earlier, later)]
            self._since[key] = tuple(sorted(found, key=lambda name: len(self._before(variable, name))))
        return self._since[key]

    def _writes(self, variable: str, writer: str, region: str, earlier: Node | None, later: Node) -> bool:
        if region not in self._regions(later):
            return False  # it has ended: its end would lie between
        is_end = later.op_type == UPDATED_VARIABLE and region_shown(later) == region
        if not is_end and writer not in self._before(variable, later.name):
            return False
        if earlier is None or region not in self._regions(earlier):
            return True
        if earlier.op_type == UPDATED_VARIABLE and region_shown(earlier) == region:
            return True  # of the turn before
        return writer not in self._before(variable, earlier.name)

    def _before(self, variable: str, name: str) -> frozenset[str]:
        """The ops that write `variable` and come before the node `name` in one turn."""
        key = (variable, name)
        if key not in self._behind:
            self._behind[key] = before([self._graph], name, self._moments_of(variable).writers)
        return self._behind[key]

    def _regions(self, node: Node) -> frozenset[str]:
        """The regions that `node` is in; that of the function itself is empty."""
        if node.op_type == UPDATED_VARIABLE:
            own = region_shown(node)
            return frozenset({"", own, *self._around(f"{own}/")})
        return frozenset({"", *self._around(node.name)})

    def _around(self, name: str) -> Iterator[str]:
        """The regions around the node `name`, innermost first, without that of the function itself."""
        scopes = call_scopes(self._graph)
        for scope in scopes.around(name):
            caller = self._graph.find(scopes.caller(scope))
            if caller is not None and caller.op_type in LOOPS | BRANCHES:
                yield scope

    def _moments_of(self, variable: str) -> _Moments:
        if variable not in self._moments:
            users = {user.name: user for user, _ in self._graph.consumers(variable)}
            first = [user for user in users.values() if user.inputs and user.inputs[0].node == variable]
            writers = {
                user.name: next(self._around(user.name), "") for user in first if updates_variable(user.op_type)
            }
            shown = [user for user in first if user.op_type in _SHOW]
            for end in (user for user in shown if user.op_type == UPDATED_VARIABLE):
                writers |= dict.fromkeys(end.control_inputs, region_shown(end))  # in functions that they call
            rows = sorted(row for user in shown for row in self._store.named(user.name))
            ends = [row for row in rows if self._store[row].op_type == UPDATED_VARIABLE]
            self._moments[variable] = _Moments(rows, ends, writers)
        return self._moments[variable]

    def _node(self, row: int) -> Node:
        return self._graph.node(self._store[row].node)
