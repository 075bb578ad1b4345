"""Reads of a variable that come behind its updates in the same run: what they give is what the updates wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from tfdbg_cli.analysis.graph.nodes.call_scopes import CallScopes, call_scopes
from tfdbg_cli.analysis.graph.nodes.feeds import fed_array
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import LOOP_VARIABLE, Graph, Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array
from tfdbg_cli.model.walks import reached

_MOST_LOOKED_AT = 200_000  # nodes before a read


def before(graphs: Iterable[Graph], read: str, writers: Iterable[str]) -> frozenset[str]:
    """Those of the ops `writers` that run before the op `read`, by the edges of one of the graphs.

    Of a loop that `read` is in, that are those of the same turn, and those before the loop.
    """
    wanted = frozenset(writers)
    for graph in graphs:
        start = graph.find(read)
        if start is not None and wanted:
            return _before(graph, start, wanted)
    return frozenset()


def _before(graph: Graph, start: Node, wanted: frozenset[str]) -> frozenset[str]:
    scopes = call_scopes(graph)

    def needs(name: str) -> Iterable[str]:
        node = graph.find(name)
        if node is not None and node.op_type == LOOP_VARIABLE:
            yield from (edge.node for edge in node.inputs[:1])  # the other one is of the turn before
        else:
            yield from () if node is None else node.needs
        # What is in a loop, a branch or a function waits for what its call waits for.
        for scope in scopes.around(name):
            caller = graph.find(scopes.caller(scope))
            yield from () if caller is None else caller.control_inputs

    inside = _by_caller(scopes, wanted, {scopes.caller(scope) for scope in scopes.around(start.name)})
    found: set[str] = set()
    for name in reached([start.name], needs, most=_MOST_LOOKED_AT):
        found |= inside.get(name, frozenset())
        if name in wanted:
            found.add(name)
        if len(found) == len(wanted):
            break
    return frozenset(found) - {start.name}


def _by_caller(scopes: CallScopes, wanted: Iterable[str], around: Set[str]) -> Mapping[str, Set[str]]:
    """By each call those of the ops `wanted` that run in it: no edge leads into a function that gives nothing back.

    Without the calls `around`, in which the op runs that is asked about.
    """
    found: dict[str, set[str]] = {}
    for name in wanted:
        for caller in map(scopes.caller, scopes.around(name)):
            if caller not in around:
                found.setdefault(caller, set()).add(name)
    return found


class HeldBefore:
    """What variables held before a run that can be made again, read when it is asked for first."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known: Mapping[str, Array] | None = None  # a `cache` of the method would keep the run, in a circle

    def value(self, variable: str) -> Array | None:
        """The value of the variable of that name in a session; None when nobody knows."""
        return self._values.get(variable) if self._run.call.kind.of_session else None

    def in_any_run(self, variable: str) -> Array | None:
        """As `value`, also in a call of a function, of variables that it writes, or that it was given and shows."""
        found = self._values.get(variable)
        call = self._run.call
        captured = found is None and any(one.captured and one.name == variable for one in call.arguments)
        return fed_array(call.feeds.get(variable)) if captured else found

    @property
    def _values(self) -> Mapping[str, Array]:
        if self._known is None:
            self._known = self._read()
        return self._known

    def _read(self) -> Mapping[str, Array]:
        if self._run.replayable is None:
            return {}
        try:
            spec = self._run.replayable.replay_spec()
        except TfdbgError:  # it cannot be made again after all: its session is closed, say
            return {}
        return {item.node or item.name: item.value for item in spec.variables}
