"""In which turn of a loop an op ran: one in a branch runs only in the turns that choose the branch.

Executions of an op are counted by themselves: the first one of an op in a branch may belong to the fourth turn of the
loop around. What chose the branch is known of every turn, and tells which.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from tfdbg_cli.analysis.graph.flow.branches import branch_of_scope, chosen_branch
from tfdbg_cli.analysis.graph.flow.version_one_loops import frames_of
from tfdbg_cli.analysis.graph.nodes.call_scopes import CallScopes, call_scopes
from tfdbg_cli.analysis.graph.nodes.neighbours import neighbours_of
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.ops.kinds import BRANCHES, LOOPS

# A variable of a loop of a called function: it reads the value at the start and the one of the turn before.


@dataclass(frozen=True)
class _Ran:
    """The turns in which what stands directly in one scope ran, in order; known of those before turn `end`."""

    turns: Sequence[int]
    end: int

    def execution(self, turn: int) -> int | None:
        """Which execution of the tensor belongs to `turn`; None where it was not made in that turn."""
        place = bisect_left(self.turns, turn)
        return place if place < len(self.turns) and self.turns[place] == turn else None


_EVERY_TURN = _Ran(range(sys.maxsize), sys.maxsize)
_NO_TURN_KNOWN = _Ran((), 0)


@dataclass(frozen=True, slots=True)
class SameTurn:
    """The tensor that the same turn of a loop made: its `index` among those of the run; None where none is kept.

    `taken` is False where none was made, since this turn did not take the branch that makes it.
    """

    index: int | None
    taken: bool = True


class LoopTurns:
    """The turns of the loops in `graph`, as the tensors of a run tell them. Turns are counted from 0."""

    def __init__(self, graph: Graph, store: TensorStore) -> None:
        self._graph = graph
        self._store = store
        self._known: dict[str, _Ran] = {}

    def loop_around(self, node: str) -> str | None:
        """The loop whose turns `node` runs in; None outside of loops, and where one lies in another.

        Inside of two loops the turns of the inner one begin anew with each of the outer. A loop of version 1 is no
        node: it is called as the scope of its ops.
        """
        body = self._loop_scope(node)
        if body is not None:
            return self._scopes.caller(body)
        frame = frames_of(self._graph).get(node, ())
        return frame[0].loop if len(frame) == 1 else None

    def turn(self, index: int) -> int | None:
        """In which turn of the loop around it the tensor at `index` was made; None where that cannot be told.

        So it is outside of loops, in a loop that ran more than once, and in a branch where it is not known what chose
        it in some turn before.
        """
        tensor = self._store[index]
        loop = self.loop_around(tensor.node)
        if loop is None:
            return None
        if self._loop_scope(tensor.node) is None:
            return None if self._is_in_branch(tensor.node) else tensor.execution
        if len(self._store.named(loop, 0)) > 1:
            return None
        turns = self._ran(tensor.node).turns
        return turns[tensor.execution] if tensor.execution < len(turns) else None

    def innermost_loop(self, node: str) -> str | None:
        """The loop around `node`, the innermost one, as `loop_around` calls it; None outside of loops."""
        for scope in self._scopes.around(node):
            caller = self._caller(scope)
            if caller is not None and caller.op_type in LOOPS:
                return caller.name
        frame = frames_of(self._graph).get(node, ())
        return frame[-1].loop if frame else None

    def turns_before(self, index: int) -> tuple[str, int] | None:
        """The innermost loop around the tensor at `index`, and how many turns it had made; None if not known.

        Of a loop in another that is known of the first thing that was made in it.
        """
        tensor = self._store[index]
        loop, turn = self.innermost_loop(tensor.node), self.turn(index)
        if turn is None and not tensor.execution and not self._is_in_branch(tensor.node):
            turn = 0
        return None if loop is None or turn is None else (loop, turn)

    def same_turn(self, name: TensorName, device: str | None, reader: int) -> SameTurn | None:
        """The tensor `name` (on `device`, if given) of the turn in which the tensor at `reader` was made.

        None where the order of the tensors has to tell it: not both stand in one loop, there is no branch between
        them, or it is not known in which turns the branch was taken.
        """
        tensor = self._store[reader]
        body = self._loop_scope(tensor.node)
        if body is None or body != self._loop_scope(name.node) or self._frame(tensor.node) == self._frame(name.node):
            return None
        readers, ran = self._ran(tensor.node), self._ran(name.node)
        if tensor.execution >= len(readers.turns) or readers.turns[tensor.execution] >= ran.end:
            return None
        execution = ran.execution(readers.turns[tensor.execution])
        if execution is None:
            return SameTurn(None, taken=False)
        rows = self._store.named(name.node, name.slot)
        likely = rows[execution : execution + 1]  # others only where it ran on several devices
        return SameTurn(next((row for row in chain(likely, rows) if self._is(row, execution, device)), None))

    def _is(self, row: int, execution: int, device: str | None) -> bool:
        tensor = self._store[row]
        return tensor.execution == execution and device in (None, tensor.device or device)

    @property
    def _scopes(self) -> CallScopes:
        return call_scopes(self._graph)

    def _caller(self, scope: str) -> Node | None:
        return self._graph.find(self._scopes.caller(scope)) if scope else None

    def _loop_scope(self, node: str) -> str | None:
        """The one scope of a loop that `node` is in, be it of its body or of its condition."""
        around = [(scope, self._caller(scope)) for scope in self._scopes.around(node)]
        loops = [scope for scope, caller in around if caller is not None and caller.op_type in LOOPS]
        return loops[0] if len(loops) == 1 else None

    def _frame(self, node: str) -> str:
        """The innermost scope of a loop or a branch that `node` is in: what is in it runs equally often."""
        kinds = LOOPS | BRANCHES
        around = ((scope, self._caller(scope)) for scope in self._scopes.around(node))
        return next((scope for scope, caller in around if caller is not None and caller.op_type in kinds), "")

    def _is_in_branch(self, node: str) -> bool:
        """Whether `node` is in a branch within the innermost loop around it, and so need not run in every turn."""
        caller = self._caller(self._frame(node))
        if caller is not None:
            return caller.op_type in BRANCHES
        frame = frames_of(self._graph).get(node, ())
        return bool(frame and frame[-1].branches)

    def _ran(self, node: str) -> _Ran:
        """When `node` ran, which is in one loop."""
        frame = self._frame(node)
        caller = self._caller(frame)
        if caller is None or caller.op_type in LOOPS:
            return _EVERY_TURN
        if frame not in self._known:
            self._known[frame] = self._taken(caller, frame)
        return self._known[frame]

    def _taken(self, caller: Node, scope: str) -> _Ran:
        """The turns in which the branch op `caller` called what stands in `scope`."""
        around = self._ran(caller.name)
        edges = neighbours_of(self._graph).inputs(caller)
        if not edges:
            return _NO_TURN_KNOWN
        name = edges[0].tensor
        rows = self._store.named(name.node, name.slot)
        if self._loop_scope(name.node) != self._loop_scope(caller.name):  # made before the loop, for all turns
            chosen = self._chooses(rows[0], caller, scope) if len(rows) == 1 else None
            return _NO_TURN_KNOWN if chosen is None else around if chosen else _Ran((), around.end)
        by_turn = dict(zip(self._ran(name.node).turns, rows, strict=False))
        taken: list[int] = []
        for turn in around.turns:
            chosen = self._chooses(by_turn[turn], caller, scope) if turn in by_turn else None
            if chosen is None:
                return _Ran(taken, min(turn, around.end))
            if chosen:
                taken.append(turn)
        return _Ran(taken, around.end)

    def _chooses(self, row: int, caller: Node, scope: str) -> bool | None:
        """Whether the branch op `caller` calls what stands in `scope` when it is given the tensor at `row`.

        None where that is not known.
        """
        branch, chosen = branch_of_scope(scope), chosen_branch(caller, self._store.value(row))
        return None if branch is None or chosen is None else branch == chosen
