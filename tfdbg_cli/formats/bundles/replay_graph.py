"""What the graph of a bundle would run, told without running it: ops that reach outside, and calls without an end.

What runs is followed back from what is fetched, through the functions that are called, as far as values are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.replay import InputRole, ReplaySpec
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.data_handles import DATA_HANDLES
from tfdbg_cli.ops.harmless_ops import HARMLESS

_DEEPEST = 200  # calls within calls; programs have a dozen
_MOST_OPS = 10_000_000  # with each called function written out at each of its calls
# PrintV2 writes where its attribute says: into a file, too.
_STREAMS = (b"stdout", b"stderr", b"log(info)", b"log(warning)", b"log(error)", b"")


@dataclass(frozen=True)
class ReplayFacts:
    """What the run of a bundle would do.

    `outside` are the op types that are not known to be harmless, each with the name of the first such op, in order.
    `endless` names a function that calls itself, or whose calls are too many; empty when there is none.
    """

    outside: Mapping[str, str]
    endless: str = ""


def graph_facts(replay_spec: ReplaySpec) -> ReplayFacts:
    """What the run would do.

    Raises:
        ValueError: the graph cannot be read.

    """
    try:
        return _facts(replay_spec)
    except schema.DecodeError as error:
        raise ValueError("The graph of the run cannot be read.") from error


def _facts(replay_spec: ReplaySpec) -> ReplayFacts:
    if replay_spec.kind.of_session:
        graph = schema.GraphDef.FromString(replay_spec.graph)
        library = _Library(schema.FunctionDefLibrary.FromString(graph.library))
        nodes = _computed(graph.node, replay_spec)
    else:
        library = _Library(schema.FunctionDefLibrary.FromString(replay_spec.graph))
        nodes = [node for name in library.alike(replay_spec.entry) for node in library.functions[name].node_def]
    endless = library.endless(nodes)
    if endless:
        return ReplayFacts({}, endless)
    return ReplayFacts(library.outside(nodes))


def _computed(nodes: Sequence[Any], replay_spec: ReplaySpec) -> list[Any]:
    """The nodes of a session's graph that are computed when the run is made again.

    What was drawn is given now. Yet what the op that drew it had read is computed again, to be shown; but for handles
    of data sets and the like, which nobody can show. Where something that is shown reads such a handle, or only waits
    for it, it is made all the same; and so an op that drew something draws again for what waits for it.
    """
    by_name = {node.name: node for node in nodes}
    inputs = replay_spec.inputs
    arguments = {item.name for item in inputs if item.role is InputRole.GIVEN}
    drawn = {item.name for item in inputs if item.role is InputRole.SOURCE}
    fetched = [node_of(name) for name in replay_spec.fetches if name not in arguments | drawn]
    variables = [item.node for item in replay_spec.variables]
    sources = {node_of(name) for name in drawn}
    behind = _needed(by_name, list(sources), _as_written(arguments)) - sources
    shown = [name for name in behind if name in by_name and by_name[name].op not in DATA_HANDLES]
    needed = _needed(by_name, [*fetched, *variables, *shown], _as_written(arguments | drawn))
    return [node for node in nodes if node.name in needed]


def _as_written(names: Iterable[str]) -> frozenset[str]:
    """The tensors `names` as a NodeDef may write them: `x:0` is `x` there."""
    return frozenset(text for name in names for text in (name, name.removesuffix(":0")))


def _needed(by_name: Mapping[str, Any], starts: Sequence[str], given: Set[str]) -> set[str]:
    """The names of `starts` and of all that they are computed from; what is `given` is not computed."""

    def computed_from(name: str) -> list[str]:
        return [node_of(text) for text in (by_name[name].input if name in by_name else ()) if text not in given]

    return set(reached(starts, computed_from))


class _Library:
    """The functions of a graph, and what they call."""

    def __init__(self, library: Any) -> None:
        self.functions: dict[str, Any] = {function.signature.name: function for function in library.function}
        self._gradients = {gradient.function_name: gradient.gradient_func for gradient in library.gradient}
        self._implementing: dict[bytes, list[str]] = {}
        for name, function in self.functions.items():
            if implemented := _implements(function):
                self._implementing.setdefault(implemented, []).append(name)

    def alike(self, name: str) -> Sequence[str]:
        """The functions of the library that may run for a call of `name`.

        Of those that say that they implement one thing TensorFlow's optimizer calls the one for the device that is
        there, whichever the graph names.
        """
        if name not in self.functions:
            return ()
        return self._implementing.get(_implements(self.functions[name]), [name])

    def called(self, node: Any) -> Iterator[str]:
        """The functions of the library that `node` may call."""
        named = [node.op, *(name for value in node.attr.values() for name in _functions_in(value))]
        for name in named:
            for one in (name, self._gradients.get(name, "")):
                yield from self.alike(one)

    def called_in(self, nodes: Iterable[Any]) -> list[str]:
        """The functions of the library that `nodes` may call, as often as they do."""
        return [name for node in nodes for name in self.called(node)]

    def endless(self, nodes: Sequence[Any]) -> str:
        """A function that calls itself, or one that becomes too large or too deep; empty when there is none."""
        sizes: dict[str, int] = {}
        depths: dict[str, int] = {}
        open_: set[str] = set()
        stack = [(name, False) for name in self.called_in(nodes)]
        while stack:
            name, done = stack.pop()
            body = self.functions[name].node_def
            calls = self.called_in(body)
            if done:
                open_.discard(name)
                sizes[name] = len(body) + sum(sizes[one] for one in calls)
                depths[name] = 1 + max((depths[one] for one in calls), default=0)
                if sizes[name] > _MOST_OPS or depths[name] > _DEEPEST:
                    return name
            elif name not in sizes:
                if name in open_:
                    return name
                open_.add(name)
                stack.append((name, True))
                for one in dict.fromkeys(calls):
                    if one in open_:
                        return one
                    stack.append((one, False))
        total = sum(sizes[name] for name in self.called_in(nodes))
        return next(iter(sizes), "") if total > _MOST_OPS else ""

    def outside(self, nodes: Sequence[Any]) -> dict[str, str]:
        """The op types among `nodes`, and in what they call, that are not harmless, with the first op of each."""
        called = reached(self.called_in(nodes), lambda name: self.called_in(self.functions[name].node_def))
        found: dict[str, str] = {}
        for scope, body in [("", nodes), *((f"{name}/", self.functions[name].node_def) for name in called)]:
            for node in body:
                if not self._is_harmless(node):
                    found.setdefault(node.op, f"{scope}{node.name}")
        return found

    def _is_harmless(self, node: Any) -> bool:
        if node.op == "PrintV2":
            return node.attr["output_stream"].s in _STREAMS if "output_stream" in node.attr else True
        return node.op in HARMLESS or node.op in self.functions


def _implements(function: Any) -> bytes:
    """What `function` says that it implements; nothing where it says nothing."""
    said: bytes = function.attr["api_implements"].s if "api_implements" in function.attr else b""
    return said


def _functions_in(value: Any) -> Iterator[str]:
    """The names of functions in an attribute, also those in the attributes of a function."""
    functions = [value.func] if value.WhichOneof("value") == "func" else list(value.list.func)
    for function in functions:
        yield function.name
        for inner in function.attr.values():
            yield from _functions_in(inner)
