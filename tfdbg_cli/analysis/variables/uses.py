"""What a run does with a variable: the ops that read it, and those that write it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.analysis.graph.nodes.needed import needed_nodes
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import LOOP_VARIABLE, Graph, GraphKind, Node
from tfdbg_cli.model.updates import BEFORE_UPDATE, UPDATED_VARIABLE
from tfdbg_cli.model.walks import nearest_first
from tfdbg_cli.ops.effects import Does, StatePlace, does, updates_variable
from tfdbg_cli.ops.kinds import CALLS, MERGE, PASSING, REFERENCE_VARIABLES, WRITES_OVER

# Ops that hand a handle on, into calls, branches and turns of loops, and those that hand on a reference.
_HAND_ON = PASSING | MERGE | {LOOP_VARIABLE, "Placeholder", "_Arg"}
_HAND_REFERENCES_ON = frozenset({"RefIdentity", "RefSwitch", "RefEnter", "RefExit", "RefMerge", "RefNextIteration"})
_SHOWN = frozenset({UPDATED_VARIABLE, BEFORE_UPDATE})
# Ops of optimizers write each variable that they are given; other ops the first one.
_OPTIMIZES = re.compile(r"(Resource)?(Sparse)?Apply[A-Z]\w*")
_DRAWS = frozenset({Does.DRAWS})
_ASKS = frozenset({Does.ASKS})
_VARIABLES = frozenset({StatePlace.VARIABLE, StatePlace.REFERENCE})
_MOST_NODES = 5_000


@dataclass(frozen=True, slots=True)
class VariableUse:
    """The ops that read a variable, and those that write it; one that computes with what is there does both.

    `calls` are calls that are given its handle, and whose functions are not part of the graph.
    """

    readers: tuple[Node, ...] = ()
    writers: tuple[Node, ...] = ()
    calls: tuple[Node, ...] = ()


def use_of(graph: Graph, variable: Node) -> VariableUse:
    """The ops of `graph` that use `variable`, wherever its handle or the reference to it is handed on to."""
    is_reference = variable.op_type in REFERENCE_VARIABLES
    hand_on = _HAND_REFERENCES_ON if is_reference else _HAND_ON

    def further(name: str) -> list[str]:
        return [reader.name for reader, _ in graph.consumers(name) if reader.op_type in hand_on]

    readers: dict[str, Node] = {}
    writers: dict[str, Node] = {}
    calls: dict[str, Node] = {}
    for at, _ in nearest_first([variable.name], further, most=_MOST_NODES):
        for user, _ in graph.consumers(at):
            kind = user.op_type
            if kind in CALLS:
                calls[user.name] = user
                continue
            if kind in hand_on or kind in _SHOWN or does(kind, _ASKS):
                continue
            if _writes(user, at):
                writers[user.name] = user
            if kind not in WRITES_OVER and (is_reference or does(kind, frozenset(Does) - _ASKS, _VARIABLES)):
                readers[user.name] = user
    return VariableUse(tuple(readers.values()), tuple(writers.values()), tuple(calls.values()))


def _writes(user: Node, at: str) -> bool:
    """Whether the op `user` writes the variable that the node `at` hands it."""
    if _OPTIMIZES.fullmatch(user.op_type):
        return True
    is_first = bool(user.inputs) and user.inputs[0].node == at
    return is_first and (updates_variable(user.op_type) or does(user.op_type, _DRAWS, _VARIABLES))


class Ran:
    """Which nodes of `graph` the call runs, as far as that can be told."""

    def __init__(self, graph: Graph, call: Call) -> None:
        asked = graph.kind is GraphKind.PYTHON and call.kind.of_session
        self._graph = graph
        self._needed = needed_nodes(graph, call) if asked else None
        self.is_known = call.kind not in (RunKind.GRAPH, RunKind.CHECKPOINT) and not (asked and self._needed is None)

    def one_of(self, nodes: Iterable[Node]) -> bool | None:
        """Whether one of `nodes` is run; None where nobody knows."""
        return any(map(self._ran, nodes)) if self.is_known else None

    def _ran(self, node: Node) -> bool:
        return self._needed is None or any(name in self._needed for name in self._with_callers(node.name))

    def _with_callers(self, name: str) -> Iterator[str]:
        yield name
        scopes = call_scopes(self._graph)
        yield from map(scopes.caller, scopes.around(name))
