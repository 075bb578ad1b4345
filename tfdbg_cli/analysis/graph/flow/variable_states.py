"""What a variable held at some moment of a call of a function, by the order in which the call read and wrote it.

TensorFlow orders all that reads or writes a variable in one function, one after the other. Of that order the graph
knows who waits for whom within one turn of a loop, and the run knows the turns: each region (the function itself, a
branch, the body of a loop) in which an op writes the variable ends with a tensor that shows it. So between two that
show it, one right behind the other, only ops of regions that have not ended by then can have written.
What follows from this order is compared with the values: where those differ, nothing is said.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.flow.last_update import region_shown
from tfdbg_cli.analysis.graph.flow.popped import equal_values
from tfdbg_cli.analysis.graph.flow.updates_within import before
from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
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
    """Where a run shows a variable: `rows` in order, and among these the places `ends` of those that end a region.

    `begins` has for each of them the place of the first that shows it as it is there, and `states` how each of these
    came to be; None for what was before the run.
    """

    rows: Sequence[int]
    ends: Sequence[int]
    begins: Sequence[int]
    states: Mapping[int, VariableState | None]

    def end_before(self, place: int) -> int | None:
        """The row of the last end of a region before `place` that shows the variable as it is there."""
        at = bisect_left(self.ends, place) - 1
        return self.rows[self.ends[at]] if at >= 0 and self.ends[at] >= self.begins[place] else None

    def end_behind(self, place: int) -> int | None:
        """As `end_before`, the first one behind it."""
        at = bisect_left(self.ends, place + 1)
        there = at < len(self.ends) and self.begins[self.ends[at]] == self.begins[place]
        return self.rows[self.ends[at]] if there else None


class VariableStates:
    """What variables held in the call of a function whose graph is `graph`, by its tensors in `store`.

    Those that are `replaced` tell nothing of a variable: `set` put something else in the place of what was read.
    """

    def __init__(self, graph: Graph, store: TensorStore, replaced: Collection[TensorName] = ()) -> None:
        self._replaced = replaced
        self._graph = graph
        self._store = store
        self._writers: dict[str, Mapping[str, str]] = {}
        self._moments: dict[str, _Moments] = {}
        self._behind: dict[tuple[str, str], frozenset[str]] = {}
        self._since: dict[tuple[str, str, str | None], tuple[str, ...]] = {}

    def written(self, index: int, node: Node) -> VariableState | None:
        """What the variable had become that the tensor at `index` shows, which `node` gave.

        None where the run had not written it by then, or where that cannot be told, and of nodes that show none.
        """
        if node.op_type not in _SHOW or not node.inputs or not self._writers_of(node.inputs[0].node):
            return None
        moments = self._moments_of(node.inputs[0].node)
        place = bisect_left(moments.rows, index)
        if moments.rows[place : place + 1] != [index]:
            return None
        begin = moments.begins[place]
        state, end = moments.states[begin], moments.end_before(place)
        if state is None or end is not None:
            return None if state is None or end is None else self._alike(end, index)
        if node.op_type == UPDATED_VARIABLE:
            return state if begin == place or self._alike(moments.rows[begin], index) else None
        end = moments.end_behind(place)
        if end is not None and (shown := self._alike(end, index)):
            return shown
        return state if begin == place else self._alike(moments.rows[begin], index)

    def when_read(self, index: int, node: Node, variable: str) -> VariableState | None:
        """As `written`, of a `variable` of which `node` gives a part, as a gather does."""
        if node.op_type not in VARIABLE_READS - _SHOW or not self._writers_of(variable):
            return None
        moments = self._moments_of(variable)
        place = bisect_left(moments.rows, index)
        row = moments.rows[place - 1] if place else None
        updates = self._between(variable, None if row is None else self._node(row), node)
        if not updates:
            return None if row is None or moments.states[moments.begins[place - 1]] is None else VariableState(row)
        behind = moments.rows[place] if place < len(moments.rows) else None
        if behind is None or self._between(variable, node, self._node(behind)):
            return VariableState(row, updates)
        end = behind if self._node(behind).op_type == UPDATED_VARIABLE else moments.end_behind(place)
        return VariableState(behind if end is None else end)

    def _alike(self, row: int, index: int) -> VariableState | None:
        return VariableState(row) if equal_values(self._store, row, index) else None

    def _between(self, variable: str, earlier: Node | None, later: Node) -> tuple[str, ...]:
        """The ops that write `variable` between a tensor of `earlier` (None: the start) and the next one of `later`.

        No tensor that shows the variable lies between the two.
        """
        key = (variable, later.name, None if earlier is None else earlier.name)
        if key not in self._since:
            writers = self._writers_of(variable)
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
            self._behind[key] = before([self._graph], name, self._writers_of(variable))
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

    def _writers_of(self, variable: str) -> Mapping[str, str]:
        """The ops that write `variable`, with their regions; also those that call a function for themselves."""
        if variable not in self._writers:
            users = self._users(variable)
            found = {user.name: next(self._around(user.name), "") for user in users if updates_variable(user.op_type)}
            for end in (user for user in users if user.op_type == UPDATED_VARIABLE):
                found |= dict.fromkeys(end.control_inputs, region_shown(end))
            self._writers[variable] = found
        return self._writers[variable]

    def _users(self, variable: str) -> list[Node]:
        """The nodes whose first input `variable` is."""
        users = {user.name: user for user, _ in self._graph.consumers(variable)}
        return [user for user in users.values() if user.inputs and user.inputs[0].node == variable]

    def _moments_of(self, variable: str) -> _Moments:
        if variable not in self._moments:
            shown = [user for user in self._users(variable) if user.op_type in _SHOW]
            shown = [user for user in shown if TensorName(user.name, 0) not in self._replaced]
            rows = sorted(row for user in shown for row in self._store.named(user.name))
            nodes = [self._node(row) for row in rows]
            ends = [place for place, node in enumerate(nodes) if node.op_type == UPDATED_VARIABLE]
            begins: list[int] = []
            states: dict[int, VariableState | None] = {}
            for place, node in enumerate(nodes):
                updates = self._between(variable, nodes[place - 1] if place else None, node)
                if updates or not place:
                    states[place] = VariableState(rows[place - 1] if place else None, updates) if updates else None
                begins.append(place if place in states else begins[-1])
            self._moments[variable] = _Moments(rows, ends, begins, states)
        return self._moments[variable]

    def _node(self, row: int) -> Node:
        return self._graph.node(self._store[row].node)
