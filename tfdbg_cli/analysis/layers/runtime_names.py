"""Names that TensorFlow's runtime gives to the nodes of functions that it put in the place of their calls.

It writes the names of the calls in front: `StatefulPartitionedCall/dense/Relu` is `step/dense/Relu` of the run's
graph, and `while/body/_5/while/cond/then/_50/while/cond/add` is `while/body/cond/true/add`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import without_number
from tfdbg_cli.ops.kinds import PLAIN_CALLS

# A part of a branch or a loop as the runtime calls it, and the number that it gives to the call.
_PART = re.compile(r"(?P<part>then|else|body|cond|branch\d+)/_\d+/")
_OURS = {"then": "true", "else": "false"}


class RuntimeNames:
    """Maps node names of the runtime to the names of nodes in `graph`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._scopes: dict[str, list[str]] = {}  # by the call
        scopes = call_scopes(graph)
        for scope in scopes:
            self._scopes.setdefault(scopes.caller(scope), []).append(scope)
        self._known: dict[str, str] = {}

    def node(self, name: str) -> str:
        """The name in the graph of the node that the runtime calls `name`; for a node of its own, one in that scope.

        Calls around the function that was run are not in the graph, and are left out of the name.
        """
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._found(name)
        return found

    def _found(self, name: str) -> str:
        places = list(self._places("", name, ""))
        for place in places:
            if place in self._graph:
                return place
        if len(places) > 1:  # inside a call of this graph: no other node of it, whatever it is called
            return min(places[1:], key=len)
        rest = name
        while rest and rest not in self._graph:
            rest = rest.partition("/")[2]
            inside = next((place for place in self._places("", rest, "") if place in self._graph), "")
            rest = inside or rest
        return rest or name

    def _places(self, scope: str, name: str, written: str) -> Iterator[str]:
        """Yield the names that `name`, relative to the function shown in `scope`, may have in the graph.

        `written` is the part of the runtime's name before it that is not repeated in `scope`.
        """
        yield _in(scope, name)
        parts = name.split("/")
        for length in range(1, len(parts)):
            own, rest = "/".join(parts[:length]), "/".join(parts[length:])
            call = _in(scope, own)
            part = _PART.match(rest)
            for inner in self._scopes.get(call, ()):
                if self._graph.node(call).op_type in PLAIN_CALLS:
                    yield from self._places(inner, rest, "")
                elif part is not None and _OURS.get(part["part"], part["part"]) == without_number(_last(inner)):
                    yield from self._within(inner, rest[part.end() :], written + own)

    def _within(self, scope: str, name: str, call: str) -> Iterator[str]:
        """As `_places`, for a part of the branch or loop `call`; its name may repeat the beginning of that name."""
        parts = call.split("/")
        for length in range(len(parts), -1, -1):
            shared = "".join(f"{part}/" for part in parts[:length])
            if name.startswith(shared):
                yield from self._places(scope, name.removeprefix(shared), shared)


def _in(scope: str, name: str) -> str:
    return f"{scope}/{name}" if scope else name


def _last(scope: str) -> str:
    return scope.rpartition("/")[2]
