"""Which functions a function calls, and the names that their nodes have in a run.

A node keeps its name. Before it stands the scope of its call: the folder of the call's node and, for a plain call,
the called function's own name (`model/dense/StatefulPartitionedCall` of `step` gives `model/dense/step/…`), for
branches and loops the node and `true`, `false`, `branch2`, `body` or `cond` (`while/body/…`). A prefix that all
nodes of the called function share with the call's node is written once. Scopes are numbered where they would meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property

from tfdbg_cli.analysis.graph.nodes.call_scopes import own_scope
from tfdbg_cli.capture.functions.definition.body import Body, Library, NeededNodes, Output, ReferenceTarget
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.model.names import TensorName, free_name
from tfdbg_cli.ops.kinds import BRANCHES, LOOPS, PLAIN_CALLS, SIZED_BY_VALUES

ARGUMENT = "Placeholder"


class CallKind(Enum):
    """How a node calls functions."""

    PLAIN = auto()
    BRANCH = auto()
    LOOP = auto()


_KINDS = {
    **dict.fromkeys(PLAIN_CALLS, CallKind.PLAIN),
    **dict.fromkeys(BRANCHES, CallKind.BRANCH),
    **dict.fromkeys(LOOPS, CallKind.LOOP),
}


@dataclass(frozen=True, eq=False)
class CallSite:
    """A node that calls functions. `scopes` are of the called function, of the branches, or of cond and body.

    `own_name` is the name of the node in the function that it was written in.
    """

    node: NodeDef
    kind: CallKind
    scopes: tuple[Scope, ...]
    own_name: str


@dataclass(frozen=True, slots=True)
class CallPlace:
    """A node that calls functions, in the function that it was written in: its name, and the paths of its scopes."""

    own_name: str
    paths: tuple[str, ...]


@dataclass(eq=False)
class Scope:
    """One function where it is called. The scope of the run's own function has an empty path and no parent.

    `stands_for` has, by position, the names of tensors in the run that arguments stand for: outputs of ops that drew.
    """

    path: str
    body: Body
    needed: NeededNodes
    parent: Scope | None = None
    call: CallSite | None = None
    shared_prefix: str = ""
    argument_names: tuple[str, ...] = ()
    stands_for: Mapping[int, TensorName] = field(default_factory=dict)
    calls: dict[str, CallSite] = field(default_factory=dict)
    unread: frozenset[ReferenceTarget] = (
        frozenset()
    )  # not returned, since returning them would change the runtime's ops
    cut: bool = False  # a call below was not entered, since the function calls itself
    _names: dict[str, str] = field(default_factory=dict, repr=False)  # asked for many times each
    _tensors: dict[str, TensorName] = field(default_factory=dict, repr=False)

    def name_of(self, node: str) -> str:
        """The name that `node` of this function has in the run."""
        found = self._names.get(node)
        if found is None:
            found = self._names[node] = self._placed(self.body.python_name(node).removeprefix(self.shared_prefix))
        return found

    def _placed(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name

    @cached_property
    def has_frames(self) -> bool:
        """Whether a branch or a loop is in this function or below."""
        return any(site.kind is not CallKind.PLAIN or site.scopes[0].has_frames for site in self.calls.values())

    @cached_property
    def has_sizes_by_values(self) -> bool:
        """Whether how long a tensor is in this function or below follows from the elements of others."""
        own = any(node.op in SIZED_BY_VALUES for node in self.body.nodes.values())
        return own or any(scope.has_sizes_by_values for site in self.calls.values() for scope in site.scopes)

    @cached_property
    def compiled(self) -> bool:
        """Whether XLA compiles this function, or one that it is called by."""
        return self.body.compiled or (self.parent is not None and self.parent.compiled)

    @cached_property
    def recomputes(self) -> bool:
        """Whether values of this function may be computed afterwards from others that its run shows."""
        scope: Scope | None = self
        while scope is not None:
            if scope.body.compiled or scope.is_condition:
                return False
            scope = scope.parent
        return True

    @property
    def is_condition(self) -> bool:
        """Whether this function is the condition of a loop."""
        return self.call is not None and self.call.kind is CallKind.LOOP and self.call.scopes[0] is self

    def argument(self, position: int) -> Output:
        """The argument at `position`, as the function refers to it."""
        return Output(self.body.arguments[position], self.body.argument_types[position])

    @cached_property
    def argument_positions(self) -> Mapping[TensorName, int]:
        """Where the arguments of the run's own function stand among them, by their tensors."""
        return {TensorName(name, 0): position for position, name in enumerate(self.argument_names)}

    def given_at(self, position: int) -> tuple[Scope, str] | None:
        """What the argument at `position` is given: the calling scope, and the reference in its function.

        For a loop that is the value of the first turn. None for the run's own function, which has no caller here.
        """
        if self.call is None or self.parent is None:
            return None
        choice = self.call.kind is CallKind.BRANCH  # the first input of a branch decides which one runs
        return self.parent, self.parent.body.data_inputs(self.call.node)[position + choice]

    @cached_property
    def loop_variables(self) -> dict[int, TensorName]:
        """For the body of a loop: the arguments that change from turn to turn, by position, with their names."""
        if self.call is None or self.call.kind is not CallKind.LOOP or self is not self.call.scopes[1]:
            return {}
        prefix = self.call.own_name.replace("/", "_").lower() + "_"
        found: dict[int, TensorName] = {}
        taken = set(self.body.nodes)
        for position, argument in enumerate(self.body.arguments):
            if position < len(self.body.returns) and self._follows(self.body.returns[position]) == position:
                continue
            name = argument.removeprefix(prefix)
            while self.shared_prefix + name in taken:
                name += "_"
            found[position] = TensorName(self._placed(name), 0)
        return found

    def _follows(self, reference: str) -> int | None:
        """The position of the argument that `reference` hands on unchanged; None when it is something else."""
        source = self.body.source(reference)
        while source.node is not None and self.body.nodes[source.node].op == "Identity":
            source = self.body.source(self.body.data_inputs(self.body.nodes[source.node])[0])
        return source.slot if source.node is None else None

    def resolve(self, reference: str) -> TensorName:
        """The tensor that `reference` means, followed through calls to where it is made; for a complete tree only."""
        found = self._tensors.get(reference)
        if found is not None:
            return found
        source = self.body.source(reference)
        site = None if source.node is None else self.calls.get(source.node)
        if source.node is None:
            found = self.argument_tensor(source.slot)
        elif site is not None and site.kind is CallKind.PLAIN:
            found = site.scopes[0].resolve(site.scopes[0].body.returns[source.slot])
        else:
            found = TensorName(self.name_of(source.node), source.slot)
        self._tensors[reference] = found
        return found

    def made_at(self, reference: str) -> tuple[Scope, str]:
        """Where the value of `reference` is made: the scope, and the reference there.

        It is followed through plain calls and Identity ops, but not into or out of a branch or a turn of a loop.
        """
        scope, text = self, reference
        while True:
            source = scope.body.source(text)
            if source.node is None:
                given = scope.given_at(source.slot) if scope.call and scope.call.kind is CallKind.PLAIN else None
                if given is None:
                    return scope, text
                scope, text = given
                continue
            site = scope.calls.get(source.node)
            if site is not None and site.kind is CallKind.PLAIN:
                scope, text = site.scopes[0], site.scopes[0].body.returns[source.slot]
            elif scope.body.nodes[source.node].op == "Identity":
                text = scope.body.data_inputs(scope.body.nodes[source.node])[0]
            else:
                return scope, text

    def argument_tensor(self, position: int) -> TensorName:
        """The tensor that the argument at `position` means."""
        given = self.given_at(position)
        if given is None:
            return self.stands_for.get(position) or TensorName(self.argument_names[position], 0)
        if self.call is not None and self.call.kind is CallKind.LOOP:
            variable = self.call.scopes[1].loop_variables.get(position)
            if variable is not None:
                return variable
        scope, reference = given
        return scope.resolve(reference)

    def all(self) -> Iterator[Scope]:
        """The scope itself and those below it."""
        yield self
        for site in self.calls.values():
            for scope in site.scopes:
                yield from scope.all()


class CallTree:
    """The scopes of one run's function, made from the function and the library that it calls into.

    Functions with an attribute among `skipped` are not entered. `places` says where calls in the run's own function
    stood originally, if that function was made by inlining others.
    """

    def __init__(
        self, library: Library, skipped: frozenset[str] = frozenset(), places: Mapping[str, CallPlace] | None = None
    ) -> None:
        self._library = library
        self._skipped = skipped
        self._places = places or {}

    def grow(self, name: str, argument_names: Iterable[str] = ()) -> Scope:
        """The scope of the function called `name`, with everything below it.

        Raises:
            LookupError: the runtime does not know the function, or its types are left open.

        """
        body = self._library.find(name)
        if body is None:
            raise LookupError(name)
        names = tuple(argument_names) or body.arguments
        root = Scope("", body, body.needed(range(len(body.returns))), argument_names=names)
        self._enter_calls(root, (name,))
        return root

    def _enter_calls(self, scope: Scope, above: tuple[str, ...]) -> None:
        taken = _Prefixes(scope.body.nodes)
        for node in scope.needed.nodes:
            kind = _KINDS.get(node.op)
            if kind is None or node.name in scope.needed.hidden:
                continue
            called = called_by_role(node)
            bodies = [self._library.find(name) for _, name in called]
            if any(name in above for _, name in called):
                scope.cut = True
            elif all(body is not None and not self._skipped & set(body.definition.attr) for body in bodies):
                found = [body for body in bodies if body is not None]
                self._enter(scope, node, kind, [role for role, _ in called], found, taken, above)

    def _enter(
        self, scope: Scope, node: NodeDef, kind: CallKind, roles: list[str], bodies: list[Body], taken: _Prefixes,
        above: tuple[str, ...],
    ) -> None:  # fmt: skip
        place = self._places.get(node.name) if scope.parent is None else None
        own_name = scope.body.python_name(node.name) if place is None else place.own_name
        folder = node.name.rpartition("/")[0] if kind is CallKind.PLAIN else scope.body.python_name(node.name)
        read = scope.needed.slots[node.name]
        scopes = []
        for index, (role, body) in enumerate(zip(roles, bodies, strict=True)):
            outputs = range(len(body.returns)) if kind is CallKind.LOOP else sorted(read)
            if place is None:
                path = scope.name_of(taken.free(f"{folder}/{role}" if folder else role))
            else:
                path = place.paths[index]
            prefix = f"{own_name}/"
            if kind is CallKind.PLAIN or not all(name.startswith(prefix) for name in body.nodes):
                prefix = ""
            scopes.append(Scope(path, body, body.needed(outputs), scope, shared_prefix=prefix))
        site = CallSite(node, kind, tuple(scopes), own_name)
        scope.calls[node.name] = site
        for inner in scopes:
            inner.call = site
            self._enter_calls(inner, (*above, inner.body.name))
            scope.cut = scope.cut or inner.cut


class _Prefixes:
    """The folders and names in one function, so that scopes can be put beside them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._taken: set[str] = set()
        for name in names:
            while name and name not in self._taken:
                self._taken.add(name)
                name = name.rpartition("/")[0]

    def free(self, wanted: str) -> str:
        """`wanted`, with a number if it is taken already; the result counts as taken."""
        name = free_name(wanted, self._taken.__contains__)
        self._taken.add(name)
        return name


def called_by_role(node: NodeDef) -> list[tuple[str, str]]:
    """The role and the name of each function that `node` calls."""
    if "f" in node.attr:
        name = node.attr["f"].func.name
        return [(own_scope(name), name)]
    if "then_branch" in node.attr:
        return [("true", node.attr["then_branch"].func.name), ("false", node.attr["else_branch"].func.name)]
    if "branches" in node.attr:
        return [(f"branch{i}", branch.name) for i, branch in enumerate(node.attr["branches"].list.func)]
    return [("cond", node.attr["cond"].func.name), ("body", node.attr["body"].func.name)]
