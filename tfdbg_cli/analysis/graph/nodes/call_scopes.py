"""Which parts of node names say what called what: the scopes of nested functions, branches and loops."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfdbg_cli.analysis.graph.nodes.roles import GRADIENT_SCOPE
from tfdbg_cli.model.graph import Graph, once_per_graph
from tfdbg_cli.ops.kinds import CALLS, PLAIN_CALLS

_ROLES = {
    "If": r"true|false", "StatelessIf": r"true|false", "Case": r"branch\d+", "StatelessCase": r"branch\d+",
    "While": r"body|cond", "StatelessWhile": r"body|cond",
}  # fmt: skip
# TensorFlow's name for a traced function: __inference_train_step_123 (also made of __forward_ and __backward_).
_TRACED = re.compile(r"^(?:__(?:inference|forward|backward)_)?(?P<name>.*?)(?:_\d+)*$")
_NUMBER = r"(?:_\d+)?"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.\-]")


def own_scope(function: str) -> str:
    """What the scope is called under which a run shows the nodes of the function of that name: `f`, `backward_f`."""
    match = _TRACED.match(function)
    # TensorFlow takes no node whose name begins with an underscore or has a < in it, as `<lambda>` has.
    name = _NOT_IN_NAMES.sub("_", match["name"] if match and match["name"] else function).strip("_") or "function"
    return f"function_{name}" if GRADIENT_SCOPE.match(name) else name  # what is in it are no gradients by that


class CallScopes:
    """The scopes under which the nodes of called functions stand in the graph of a function's run.

    A plain call of `step` by `model/StatefulPartitionedCall` puts them under `model/step/`, a loop or a branch under
    its own name: `model/while/body/`, `cond/true/`. A scope that was taken already has a number.
    """

    def __init__(self, graph: Graph) -> None:
        self._callers: dict[str, str] = {}
        if CALLS.isdisjoint(graph.distinct_op_types()):
            return
        names = [name for name, op_type in graph.op_types() if op_type in CALLS]
        calls = [node for name in names for node in graph.all_named(name) if node.op_type in CALLS]
        if not calls:
            return
        inside = _folders(graph)
        for node in calls:
            if node.op_type in _ROLES:
                folder, role = node.name, _ROLES[node.op_type]
            else:
                function = node.attributes.get("f", "")
                folder, role = node.name.rpartition("/")[0], re.escape(own_scope(function)) if function else ""
            wanted = re.compile(f"(?:{role}){_NUMBER}")
            plain = node.op_type in PLAIN_CALLS
            for part in inside.get(folder, ()) if role else ():
                scope = f"{folder}/{part}" if folder else part
                if scope not in self._callers and wanted.fullmatch(part):
                    self._callers[scope] = node.name
                    if plain:  # another call of the same function has the next number
                        break

    def __bool__(self) -> bool:
        return bool(self._callers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._callers)

    def caller(self, scope: str) -> str:
        """The node whose call made `scope`."""
        return self._callers[scope]

    def around(self, name: str) -> Iterator[str]:
        """The scopes of the calls that the node `name` runs in, innermost first."""
        scope = name.rpartition("/")[0] if self._callers else ""
        while scope:
            if scope in self._callers:
                yield scope
            scope = scope.rpartition("/")[0]


def _folders(graph: Graph) -> dict[str, dict[str, None]]:
    """The scopes directly inside each scope, in graph order."""
    found: dict[str, dict[str, None]] = {}
    for name in graph.names():
        scope = name.rpartition("/")[0]
        while scope:
            folder, _, part = scope.rpartition("/")
            inside = found.setdefault(folder, {})
            if part in inside:
                break
            inside[part] = None
            scope = folder
    return found


@once_per_graph
def call_scopes(graph: Graph) -> CallScopes:
    """The call scopes of `graph`, found once and kept as long as the graph is."""
    return CallScopes(graph)
