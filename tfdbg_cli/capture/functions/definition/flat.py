"""Flat functions: their plain calls are inlined, so that parts of them can be made functions of their own.

Nodes have the names that they have in the function's runs, so that what is computed from a part can be laid beside
what a run showed. Branches, loops, and calls that XLA compiles stay calls. Control edges across an inlined call are
those of TensorFlow's own inliner (common_runtime/inline_function_utils.cc): what is inside waits for what the call
waits for, and what waits for the call waits for the side effects inside.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import tensorflow as tf

from tfdbg_cli.capture.functions.definition.body import Output
from tfdbg_cli.capture.functions.definition.call_tree import CallKind, CallSite, Scope
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.model.dtypes import RESOURCE, element_type
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.walks import depth_first, reached

_BEGIN, _END = "tfdbg_begin", "tfdbg_end"


@dataclass(frozen=True, eq=False)
class FlatNode:
    """A node of an inlined function.

    `template` is the NodeDef in its own function, `inputs` are what it reads, and `controls` the nodes it waits for.
    `through` are the end markers of inlined calls whose outputs it reads: the side effects of these calls belong to
    what must run with it.
    """

    name: str
    scope: Scope | None
    template: NodeDef
    inputs: tuple[TensorName, ...]
    controls: tuple[str, ...]
    through: tuple[str, ...] = ()
    device: str = ""

    @property
    def op_type(self) -> str:
        return str(self.template.op)

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of the nodes that come before it: those that it reads, and those that it waits for."""
        return (*(name.node for name in self.inputs), *self.controls, *self.through)

    @property
    def outputs(self) -> Sequence[TensorName]:
        """The tensors that it gives."""
        slots = () if self.scope is None else self.scope.body.outputs(self.template.name)
        return [TensorName(self.name, slot) for slot in range(len(slots))]

    @property
    def site(self) -> CallSite | None:
        """The call that it is: a branch, a loop, or a call that XLA compiles; None for any other node."""
        return None if self.scope is None else self.scope.calls.get(self.template.name)

    @property
    def is_needed(self) -> bool:
        """Whether runs of the function compute it."""
        return self.scope is not None and self.template.name in self.scope.needed.slots

    @property
    def is_hidden(self) -> bool:
        """Whether it is in a loop or a branch of version 1."""
        return self.scope is not None and self.template.name in self.scope.needed.hidden


class FlatFunction:
    """The function of `root` with all that it calls plainly, on one level."""

    def __init__(self, root: Scope) -> None:
        self.root = root
        self.arguments = tuple(map(root.argument_tensor, range(len(root.argument_names))))
        self._argument_types = dict(zip(self.arguments, root.body.argument_types, strict=True))
        self.handles = frozenset(name for name, dtype in self._argument_types.items() if dtype == RESOURCE)
        self.nodes: dict[str, FlatNode] = {node.name: node for node in _inlined(root, (), "")}
        self.returns = tuple(resolved(root, text, [])[0] for text in root.body.returns)
        self.effects = tuple(_ended(root, name) for name in root.body.effects if name in root.body.nodes)

    def output(self, name: TensorName) -> Output:
        """How a part of this function refers to the output `name` of a node, and its type.

        Raises:
            KeyError: there is no such node, or it has no such output.

        """
        node = self.nodes.get(name.node)
        if node is None or node.scope is None:
            raise KeyError(str(name))
        outputs = node.scope.body.outputs(node.template.name)
        if name.slot >= len(outputs):
            raise KeyError(str(name))
        found = outputs[name.slot]
        return Output(found.reference.replace(node.template.name, node.name, 1), found.dtype)

    def type_of(self, name: TensorName) -> int:
        """The number of the element type of an argument or an output."""
        known = self._argument_types.get(name)
        return self.output(name).dtype if known is None else known

    def has_numbers(self, name: TensorName) -> bool:
        """Whether there is such an argument or output, and NumPy has a type for its elements: it is no handle."""
        try:
            return element_type(self.type_of(name)).numpy is not None
        except KeyError:
            return False

    @cached_property
    def _folders(self) -> dict[str, str]:
        """The branches, loops and compiled calls, by the folders of what is in them."""
        sites = ((node.name, node.site) for node in self.nodes.values())
        return {scope.path: name for name, site in sites if site is not None for scope in site.scopes}

    def place_of(self, name: TensorName) -> str:
        """The branch, loop or compiled call in which `name` is made; empty when a node of this level makes it."""
        at = name.node.find("/")
        while at >= 0:
            place = self._folders.get(name.node[:at])
            if place is not None:
                return place
            at = name.node.find("/", at + 1)
        return ""

    def ancestors(self, ends: Iterable[TensorName], fed: Collection[TensorName] = ()) -> Iterator[FlatNode]:
        """The nodes from which the tensors `ends` are computed; past `fed` ones none. Control edges do not count."""

        def makers(tensors: Iterable[TensorName]) -> list[FlatNode]:
            return [self.nodes[name.node] for name in tensors if name not in fed and name.node in self.nodes]

        return depth_first(makers(ends), lambda node: makers(node.inputs))

    def later(self, start: str) -> set[str]:
        """The names of the nodes that can only run after the node `start` has ended."""
        following: dict[str, list[str]] = {}
        for node in self.nodes.values():
            for before in set(node.needs):
                following.setdefault(before, []).append(node.name)
        return set(reached(following.get(start, ()), lambda name: following.get(name, ())))


def is_inlined(site: CallSite | None) -> bool:
    """Whether the call at `site` has no node of its own in a flat function."""
    return site is not None and site.kind is CallKind.PLAIN and not site.scopes[0].body.compiled


def _begin_of(scope: Scope) -> str:
    return f"{scope.path}/{_BEGIN}"


def _end_of(scope: Scope) -> str:
    return f"{scope.path}/{_END}"


def is_marker(node: FlatNode) -> bool:
    """Whether `node` is no op of the program: the begin or the end of a call that was inlined, here or before."""
    return node.scope is None or node.name.endswith((f"/{_BEGIN}", f"/{_END}"))


def _inlined(scope: Scope, before: tuple[str, ...], device: str) -> Iterator[FlatNode]:
    """The nodes of `scope` and of what is inlined in it. All wait for the nodes `before`, and inherit `device`."""
    direct = scope.parent is None and not scope.calls  # nothing of it comes out of a call
    for node in scope.body.nodes.values():
        waited = [text[1:] for text in node.input if text.startswith("^")]
        controls = tuple(one for name in waited for one in _waited_for(scope, name))
        site = scope.calls.get(node.name)
        if site is not None and is_inlined(site):
            inner = site.scopes[0]
            yield marker(_begin_of(inner), (*controls, *before))
            yield from _inlined(inner, (_begin_of(inner),), node.device or device)
            effects = [_ended(inner, name) for name in inner.body.effects if name in inner.body.nodes]
            yield marker(_end_of(inner), (*effects, _begin_of(inner)))
            continue
        ends: list[str] = []
        given = scope.body.data_inputs(node)
        if direct:
            inputs = tuple(map(scope.resolve, given))
        else:
            inputs = tuple(resolved(scope, text, ends)[0] for text in given)
        waits = controls
        # A node that reads another one of its function, or waits for one, waits for `before` by way of that.
        if before and not any(name in scope.body.nodes for name in waited):
            waits = controls if any(scope.body.source(text).node for text in given) else (*controls, *before)
        yield FlatNode(
            scope.name_of(node.name), scope, node, inputs, waits, tuple(dict.fromkeys(ends)), node.device or device
        )


def marker(name: str, controls: Sequence[str]) -> FlatNode:
    """A node called `name` that does nothing but wait for `controls`."""
    return FlatNode(name, None, tf.compat.v1.NodeDef(name=name, op="NoOp"), (), tuple(dict.fromkeys(controls)))


def _ended(scope: Scope, node: str) -> str:
    """What has run once the node called `node` has: itself, or the end of the call that was inlined in its place."""
    site = scope.calls.get(node)
    return _end_of(site.scopes[0]) if site is not None and is_inlined(site) else scope.name_of(node)


def _waited_for(scope: Scope, name: str) -> tuple[str, ...]:
    """The nodes that have run where what waits for `name`, a node of `scope` or an argument, may run."""
    if name in scope.body.nodes:
        return (_ended(scope, name),)
    ends: list[str] = []
    given, _ = resolved(scope, name, ends)
    return (given.node, *ends)


def resolved(scope: Scope, reference: str, ends: list[str]) -> tuple[TensorName, Scope]:
    """What `reference` means in the flat function. The ends of calls that it comes out of are added to `ends`."""
    source = scope.body.source(reference)
    if source.node is not None:
        site = scope.calls.get(source.node)
        if site is None or not is_inlined(site):
            return TensorName(scope.name_of(source.node), source.slot), scope
        inner = site.scopes[0]
        if inner.body.effects:
            ends.append(_end_of(inner))
        return resolved(inner, inner.body.returns[source.slot], ends)
    given = scope.given_at(source.slot)
    return (scope.argument_tensor(source.slot), scope) if given is None else resolved(*given, ends)


_FLAT = Memo(FlatFunction)


def flat_function(root: Scope) -> FlatFunction:
    """The function of `root` with its plain calls inlined; kept with the scope.

    Raises:
        RecursionError: plain calls are nested too deep.

    """
    return _FLAT.of(root)
