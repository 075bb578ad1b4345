"""Nodes grouped by Keras layer and name scope, wherever calls, gradients and optimizers put them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from weakref import ref

from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.analysis.graph.nodes.roles import GRADIENT_SCOPE, Role, role_by_name, roles_of
from tfdbg_cli.analysis.layers.layer_names import Scope, called, is_numbered, layer_names
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph, Node, once_per_graph
from tfdbg_cli.model.names import did_you_mean, without_number
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.ops.kinds import BRANCHES, LOOPS

# tf.compat.v1.train puts what updates the variable dense/kernel under `update_dense/kernel`.
_UPDATE_SCOPE = "update_"
# What TensorFlow's runtime puts where a session feeds and fetches: `_arg_dense/x_0_1` for dense/x:0.
_ENDS = re.compile(r"_(arg|retval)_(?P<node>.+)_\d+_\d+")
_BY_OWN_NAME = BRANCHES | LOOPS  # op types whose own name stands before the names of what they run
_HELPERS = frozenset({"ReadVariableOp", "Placeholder", "_Arg", "VarHandleOp", "Const"})


def scope_text(scope: Scope) -> str:
    """A scope as it stands in names."""
    return "/".join(scope)


class Layers:
    """The scopes of one graph.

    The scope of a node is the path of layers and name scopes in which the program made it. Left out are: functions,
    loops and branches (`while/body` of `lstm/while/body/MatMul`), what gradients stand under (`gradient_tape/lstm/…`,
    `gradients/lstm/MatMul_grad/…`), and ops that give their name to helpers (`dense/MatMul/ReadVariableOp`).
    An op of the optimizer that updates the variables of one layer belongs to that layer. Layers are called as the
    program calls them (`layer_names`).
    """

    def __init__(self, graph: Graph) -> None:
        self._held = ref(graph)  # what is kept about a graph must not keep the graph
        self._calls = call_scopes(graph)
        loops = [node.name for node in graph if node.op_type in _BY_OWN_NAME]
        self._raw_of: dict[str, Scope] = {}
        self._call_scopes: frozenset[Scope] = frozenset()
        self._call_scopes = frozenset((*self._raw(name), name.rpartition("/")[2]) for name in loops)
        raw = {name: self._without_calls(self._raw(name)) for name in graph.names()}
        self._ops = {(*scope, name.rpartition("/")[2]) for name, scope in raw.items() if not _gradient_part(name)}
        self._scopes = {name: self._outside_ops(scope) for name, scope in raw.items()}
        # Of nodes that the graph does not have, by what stands before their names.
        self._beyond: dict[str, Scope] = {}
        self._fold_helpers(graph)
        known = layer_names(graph, self._scopes)
        self._names, self._owners = known.called, known.owners
        self._numbered = {name: scope for name, scope in self._scopes.items() if called(scope, self._names) != scope}
        self._scopes |= {name: called(scope, self._names) for name, scope in self._numbered.items()}

    @property
    def _graph(self) -> Graph:
        graph = self._held()
        if graph is None:
            raise ReferenceError("the graph of these layers is gone")
        return graph

    def scope(self, node: str) -> Scope:
        """The scope of the node called `node`, without the layer whose variables it updates; empty at the top."""
        found = self._scopes.get(node)
        if found is not None:
            return found
        before = node.rpartition("/")[0]
        found = self._beyond.get(before)
        if found is None:
            found = called(self._outside_ops(self._without_calls(self._raw(node))), self._names)
            self._beyond[before] = found
        return found

    def layer(self, node: str) -> Scope:
        """The scope of `node`; for what updates the variables of one layer, that layer."""
        return self._updates.get(node) or self.scope(node)

    @cached_property
    def names(self) -> list[str]:
        """Every scope, outer ones first, in the order in which the graph comes to them."""
        found: dict[str, None] = {}
        for scope in chain(self._scopes.values(), self._beyond.values()):
            for end in range(1, len(scope) + 1):
                found[scope_text(scope[:end])] = None
        return in_tree_order(found)

    def resolve(self, text: str) -> list[Scope]:
        """The scopes that `text` means: `dense_1`, or more of a path; `dense` also where Keras numbered it.

        Raises:
            TfdbgError: no name has such a part; the hint names the nearest.

        """
        wanted = tuple(part for part in text.strip().strip("/").split("/") if part)
        parts = {part for scope in self._all_paths() for part in _windows(scope, len(wanted))} if wanted else set()
        exact, numbered = ([part for part in parts if fits(part, wanted)] for fits in (_same, _same_but_number))
        computing = (node.name for node in self._graph if node.op_type not in _HELPERS | {UPDATED_VARIABLE})
        layers = {part for name in computing for part in _windows(self.layer(name), len(wanted))}
        of_variables = [part for part in exact if part not in layers]
        owned = {called(scope, self._names) for scope, of in self._owners.items() if of[-len(wanted) :] == wanted}
        if wanted and owned:
            return sorted({*owned, *of_variables})
        if len(of_variables) < len(exact):
            return sorted(exact)
        if exact or numbered:  # the exact name alone is that of variables
            return sorted({*exact, *numbered})
        known = {part for name in self.names for part in name.split("/")}
        hint = (did_you_mean(text, [*known, *self.names]) if wanted else "") or "`layers` lists them."
        raise TfdbgError(f"There is no layer or scope {text!r} in the names of this run.", hint=hint)

    def tester(self, scopes: Iterable[Scope]) -> Callable[[str], bool]:
        """A test for node names: whether a node lies in one of `scopes`, wherever they stand in its path."""
        wanted = {len(scope): {s for s in scopes if len(s) == len(scope)} for scope in scopes}

        last_parts, scopes_of = {scope[-1] for scope in scopes if scope}, self._scopes
        beyond: dict[str, bool] = {}  # of nodes that the graph lacks, by what stands before their names

        def holds_one(*paths: Scope) -> bool:
            return any(
                part in parts for length, parts in wanted.items() for path in paths for part in _windows(path, length)
            )

        def within(node: str) -> bool:
            before, slash, last = node.rpartition("/")
            if node in scopes_of or last in last_parts or not slash:
                return holds_one(self._written(node), self.layer(node))
            found = beyond.get(before)
            if found is None:
                found = beyond[before] = holds_one(tuple(before.split("/")), self.scope(node))
            return found

        return within

    def _all_paths(self) -> set[Scope]:
        """The scopes of all nodes, and the paths in which their names put them."""
        written = {self._written(name)[:-1] for name in self._scopes}
        beyond = {tuple(before.split("/")) for before in self._beyond if before}
        return written | beyond | set(self._scopes.values()) | set(self._beyond.values())

    def _written(self, name: str) -> Scope:
        """The parts of the name of a node, with its layer as the program calls it."""
        parts = tuple(name.split("/"))
        numbered = self._numbered.get(name)
        if numbered is not None:
            for at in range(len(parts) - len(numbered) + 1):
                if parts[at : at + len(numbered)] == numbered:
                    return (*parts[:at], *self._scopes[name], *parts[at + len(numbered) :])
        return parts

    def _raw(self, name: str) -> Scope:
        """The scopes of `name` without the calls around it and the scopes of gradients."""
        known = self._raw_of.get(name)
        if known is None:
            ends = _ENDS.fullmatch(name) if name.startswith("_") else None
            known = self._raw_of[name] = self._scopes_in(name if ends is None else ends["node"])
        return known

    def _scopes_in(self, name: str) -> Scope:
        """What `_raw` tells of a node that goes by the name that the program gave it."""
        call = next(self._calls.around(name), "")
        inner = name[len(call) + 1 :] if call else name
        parts = inner.split("/")[:-1]
        marks = [i for i, part in enumerate(parts) if GRADIENT_SCOPE.match(part)]
        own = tuple(parts[marks[-1] + 1 :] if marks else parts)
        own = _of_update(own)
        outer = self._raw(self._calls.caller(call)) if call else ()
        # Functions of loops and branches repeat the whole path of the op that calls them.
        absolute = not outer or own[: len(outer)] == outer or (marks and own)
        return _once(own if absolute else outer + own)

    def _without_calls(self, scope: Scope) -> Scope:
        kept: list[str] = []
        for end, part in enumerate(scope, 1):
            if scope[:end] not in self._call_scopes:
                kept.append(part)
        return _once(tuple(kept))

    def _outside_ops(self, scope: Scope) -> Scope:
        """`scope` up to the first part that is an op: `dense/MatMul` holds the helpers of MatMul."""
        for end, part in enumerate(scope, 1):
            if scope[:end] in self._ops or (*scope[: end - 1], part.removesuffix("_grad")) in self._ops:
                return scope[: end - 1]
        return scope

    def _fold_helpers(self, graph: Graph) -> None:
        """Join scopes that hold helpers alone to those around them.

        They come of ops that read variables (`dense/Cast/ReadVariableOp` of Keras 3), also in another precision
        (`dense/Cast/Cast`), of constants, and of gradients.
        """
        inhabited: set[Scope] = set()
        for node in graph:
            if node.op_type not in _HELPERS and not _gradient_part(node.name) and not _casts_variable(graph, node):
                scope = self._scopes[node.name]
                inhabited.update(scope[:end] for end in range(1, len(scope) + 1))
        for name, scope in self._scopes.items():
            while scope and scope not in inhabited:
                scope = scope[:-1]
            self._scopes[name] = scope

    @cached_property
    def _updates(self) -> Mapping[str, Scope]:
        """For nodes that update the variables of one layer, and what feeds only those: that layer."""
        graph, roles = self._graph, roles_of(self._graph)
        found: dict[str, Scope] = {}
        for node in graph:
            if node.inputs and role_by_name(node.name, node.op_type) is Role.UPDATE:
                layer = self._reader_of(str(node.inputs[0]), roles)
                if layer:
                    found[node.name] = layer
        # From the writes back: a node is settled when all its readers are.
        waiting = list(found)
        while waiting:
            for tensor in (graph.find(waiting.pop()) or _NOTHING).inputs:
                name = tensor.node
                if name in found or roles.get(name) is not Role.UPDATE:
                    continue
                layers = {found.get(reader.name) for reader, _ in graph.consumers(name)}
                if len(layers) == 1 and (only := layers.pop()) is not None:
                    found[name] = only
                    waiting.append(name)
        return found

    def _reader_of(self, variable: str, roles: Mapping[str, Role]) -> Scope:
        """The layer that reads the variable whose handle is the tensor `variable` in the forward pass."""
        node, _, slot = variable.rpartition(":")
        readers = [reader.name for reader, read in self._graph.consumers(node) if str(read) == slot]
        return self.reading(node, [reader for reader in readers if reader not in roles]) or self.scope(node)

    def reading(self, variable: str, readers: Sequence[str]) -> Scope:
        """The scope of that one of `readers`, in the forward pass, which tells the layer of the variable.

        The layer after which the variable is called goes before the others, and what is differentiated before what
        only looks on: tf.norm(variable) that a function returns reads it in a scope of its own.
        """
        scopes, owner = [self.scope(reader) for reader in readers], self._raw(variable)
        named = next((scope for scope in scopes if is_numbered(scope, owner)), ())
        derived = [scope for scope in scopes if scope in self._differentiated]
        if named or (derived and not owner):
            return named or derived[0]
        return next((scope for scope in (*derived, *scopes) if scope), ())

    @cached_property
    def _differentiated(self) -> frozenset[Scope]:
        roles = roles_of(self._graph)
        return frozenset(self.scope(name) for name, role in roles.items() if role is Role.GRADIENT)


class _Nothing:
    inputs = ()


_NOTHING = _Nothing()


def in_tree_order(names: Iterable[str]) -> list[str]:
    """Names of scopes, each behind the one around it (which must be among them), else in the order given."""
    place = {name: i for i, name in enumerate(names)}

    def path(name: str) -> tuple[int, ...]:
        parts = name.split("/")
        return tuple(place["/".join(parts[:end])] for end in range(1, len(parts) + 1))

    return sorted(place, key=path)


def _gradient_part(name: str) -> bool:
    return any(GRADIENT_SCOPE.match(part) for part in name.split("/"))


def _casts_variable(graph: Graph, node: Node) -> bool:
    """Whether `node` casts a variable in a scope made for that: `dense/Cast/Cast`, under mixed precision."""
    parts = node.name.split("/")
    if node.op_type != "Cast" or len(parts) < 2 or without_number(parts[-2]) != "Cast" or not node.inputs:
        return False
    read = graph.find(node.inputs[0].node)
    return read is not None and read.op_type == "ReadVariableOp"


def _of_update(scope: Scope) -> Scope:
    for i, part in enumerate(scope):
        if part.startswith(_UPDATE_SCOPE) and len(part) > len(_UPDATE_SCOPE):
            return (part.removeprefix(_UPDATE_SCOPE), *scope[i + 1 :])
    return scope


def _once(scope: Scope) -> Scope:
    """`a/b` for `a/b/a/b`: the gradient of a loop is called in the scope of the loop, by the loop's whole name."""
    half, odd = divmod(len(scope), 2)
    return scope[:half] if half and not odd and scope[:half] == scope[half:] else scope


def is_called(scope: str, text: str) -> bool:
    """Whether `text` means `scope`: its whole path or parts of it, with the number that Keras gave it or without."""
    path, wanted = tuple(scope.split("/")), tuple(text.strip().strip("/").split("/"))
    return any(_same(part, wanted) or _same_but_number(part, wanted) for part in _windows(path, len(wanted)))


def _windows(path: Scope, length: int) -> Iterable[Scope]:
    return (path[i : i + length] for i in range(len(path) - length + 1))


def _same(part: Scope, wanted: Scope) -> bool:
    return part == wanted


def _same_but_number(part: Scope, wanted: Scope) -> bool:
    return part[:-1] == wanted[:-1] and without_number(part[-1]) == wanted[-1]


@once_per_graph
def layers_of(graph: Graph) -> Layers:
    """The layers of `graph`, made once and kept as long as the graph is."""
    return Layers(graph)
