"""A function with its plain calls inlined as TensorFlow's runtime does it, by the names that its nodes have then.

The runtime puts what a call runs in the place of the call before it optimizes a function, and has the call's name
stand before the names of the inner nodes (common_runtime/inline_function_utils.cc): `one_step/dense/MatMul` of a call
`one_step`. What is inside waits for what the call waits for, and what waits for the call waits for the side effects
inside. (A flat function, `flat.py`, has the names of a run instead.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from tfdbg_cli.capture.functions.definition.body import Body
from tfdbg_cli.capture.functions.definition.own_names import is_ours
from tfdbg_cli.capture.functions.optimized.twins import has_twin
from tfdbg_cli.capture.tf import colocation
from tfdbg_cli.capture.tf.types import FunctionDef, NodeDef
from tfdbg_cli.model.names import node_of
from tfdbg_cli.ops.kinds import PLAIN_CALLS

Find: TypeAlias = Callable[[str], Body | None]  # a function by its name
_ENDED = "tfdbg_inlined_call_ended"  # our node that waits for the side effects of a call


@dataclass(frozen=True)
class InlinedFunction:
    """A function of which no plain call is left that the runtime inlines.

    `origins` has for each node the function that it was written in, and its name there.
    """

    body: Body
    origins: Mapping[str, tuple[Body, str]]


def inlined(body: Body, find: Find) -> InlinedFunction:
    """The function `body` with what it calls, which `find` gives.

    Raises:
        RecursionError: it calls itself, or calls are nested too deep.

    """
    root = _Place(body, find)
    if not root.calls:
        return InlinedFunction(body, {name: (body, name) for name in body.nodes})
    made: FunctionDef = type(body.definition)()
    made.signature.CopyFrom(body.definition.signature)
    made.attr.MergeFrom(body.definition.attr)
    for at, attributes in body.definition.arg_attr.items():
        made.arg_attr[at].CopyFrom(attributes)
    origins: dict[str, tuple[Body, str]] = {}
    for place, node in root.all():
        made.node_def.append(place.inlined(node))
        origins[place.prefix + node.name] = place.body, node.name
    for place in root.below():
        if place.is_waited_for:
            made.node_def.add(name=place.end, op="NoOp", input=[f"^{name}" for name in place.effects or place.before])
    for output, text in body.definition.ret.items():
        made.ret[output] = root.resolved(text)
    del made.signature.control_output[:]
    for number, effect in enumerate(root.effects):
        made.signature.control_output.append(f"effect_{number}")
        made.control_ret[f"effect_{number}"] = effect
    return InlinedFunction(Body(made), origins)


class _Place:
    """A function where it is called: at the node `call` of the function of `parent`; the outermost has neither."""

    def __init__(self, body: Body, find: Find, parent: _Place | None = None, call: NodeDef | None = None) -> None:
        self.body = body
        self.prefix: str = f"{parent.prefix}{call.name}/" if parent is not None and call is not None else ""
        self._parent = parent
        self._call = call
        self._resolved: dict[str, str] = {}
        self.end = f"{self.prefix}{_ENDED}"
        self.is_waited_for = False
        self.calls: dict[str, _Place] = {}
        for name, node in body.nodes.items():
            called = find(node.attr["f"].func.name) if node.op in PLAIN_CALLS else None
            if called is not None and not called.compiled:
                self.calls[name] = _Place(called, find, self, node)

    def all(self) -> Iterator[tuple[_Place, NodeDef]]:
        """The nodes that are left, here and in what is called, each with its place."""
        for name, node in self.body.nodes.items():
            inner = self.calls.get(name)
            if inner is None:
                yield self, node
            else:
                yield from inner.all()

    def below(self) -> Iterator[_Place]:
        """What is called here, and in that."""
        for inner in self.calls.values():
            yield inner
            yield from inner.below()

    def inlined(self, node: NodeDef) -> NodeDef:
        """`node`, one of this function, as it is in the whole."""
        made = type(node)()
        made.CopyFrom(node)
        made.name = self.prefix + node.name
        made.device = node.device or self._device
        del made.input[:]
        made.input.extend(map(self.resolved, self.body.data_inputs(node)))
        made.input.extend(f"^{name}" for name in dict.fromkeys(self._waits(node)))
        if self.prefix:
            colocation.rename(made, lambda name: self.prefix + name)
        return made

    def resolved(self, reference: str) -> str:
        """How the whole refers to what `reference` means in this function."""
        found = self._resolved.get(reference)
        if found is None:
            found = self._resolved[reference] = self._found(reference)
        return found

    def _found(self, reference: str) -> str:
        source = self.body.source(reference)
        if source.node is None:
            if self._parent is None or self._call is None:
                return reference
            return self._parent.resolved(self._parent.body.data_inputs(self._call)[source.slot])
        inner = self.calls.get(source.node)
        return self.prefix + reference if inner is None else inner.resolved(inner.body.returns[source.slot])

    @cached_property
    def effects(self) -> Sequence[str]:
        """The nodes in the whole that are the side effects of this function."""
        found: list[str] = []
        for name in sorted(self.body.effects):  # a FunctionDef has them in any order
            inner = self.calls.get(name)
            if inner is not None:
                found += inner.effects
            elif name in self.body.nodes:
                found.append(self.prefix + name)
        return found

    def _waits(self, node: NodeDef) -> Iterator[str]:
        """The nodes in the whole for which `node` waits.

        By way of calls a node of the program's waits for none of ours, and one of ours only if it has a state.
        """
        ours = is_ours(node.name)
        own = [text[1:] for text in node.input if text.startswith("^")]
        for name in own:
            yield from self._ended(name, ours)
        if ours and has_twin(node):
            return
        # Whoever reads another node of the function, or waits for one, waits for that by way of it.
        read = (self.body.source(text).node for text in self.body.data_inputs(node))
        if not any(name in self.body.nodes for name in own) and not any(read):
            yield from self.before

    @cached_property
    def before(self) -> Sequence[str]:
        """The nodes for which the call waits, and those around it."""
        if self._parent is None or self._call is None:
            return ()
        return tuple(dict.fromkeys([*self._parent._waits(self._call), *self._parent.before]))

    def _ended(self, name: str, ours: bool) -> Sequence[str]:
        """What has run once the node, or the argument, called `name` is there, for a node that is `ours` or not."""
        inner = self.calls.get(name)
        if inner is None:
            return (self.prefix + name,) if name in self.body.nodes else (node_of(self.resolved(name)),)
        if ours:  # many of ours wait for the same call, and a call may have thousands of side effects
            inner.is_waited_for = True
            return (inner.end,)
        return [text for text in inner.effects if not is_ours(text)] or inner.before

    @property
    def _device(self) -> str:
        if self._parent is None or self._call is None:
            return ""
        return str(self._call.device) or self._parent._device
