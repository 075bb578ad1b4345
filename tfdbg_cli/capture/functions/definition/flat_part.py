"""Parts of flat functions, each made a function of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property

from tfdbg_cli.capture.functions.definition.body import IMPLEMENTATION
from tfdbg_cli.capture.functions.definition.flat import FlatFunction, FlatNode, marker, resolved
from tfdbg_cli.capture.tf import colocation
from tfdbg_cli.capture.tf.types import FunctionDef, NodeDef
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.walks import reached


@dataclass(frozen=True, eq=False)
class FlatDefinition:
    """A FunctionDef, and what its arguments (`inputs`) and its `outputs` are in the run, in order.

    `nodes` are the names of its nodes. `make` makes the FunctionDef, which of most functions nobody ever asks for.
    """

    inputs: tuple[TensorName, ...]
    outputs: tuple[TensorName, ...]
    nodes: tuple[str, ...]
    make: Callable[[], FunctionDef]

    @cached_property
    def definition(self) -> FunctionDef:
        """The FunctionDef itself."""
        return self.make()


def part_of(
    flat: FlatFunction,
    function_name: str,
    returns: Sequence[TensorName],
    fed: Collection[TensorName] = (),
    *,
    with_effects: bool,
    silenced: Collection[str] = (),
    only_before: bool = False,
) -> FlatDefinition:
    """The part of `flat` that gives `returns`, as a FunctionDef called `function_name`.

    Args:
        flat: the whole function.
        function_name: must not be known to the runtime yet.
        returns: arguments or outputs of nodes; one may occur several times.
        fed: outputs of nodes that become arguments; what only they need is left out.
        with_effects: whether the side effects of the function are part of it. Without them no control edge is
            kept either: a variable is then read whenever it comes.
        only_before: whether of the side effects only those are part that come before `returns`.
        silenced: nodes that do nothing in the part but wait; their outputs must be fed where they are read.

    """
    part = _Part(flat, function_name, frozenset(fed), with_effects, frozenset(silenced))
    return part.made(returns, flat.effects if with_effects and not only_before else None)


class _Part:
    """One part of a flat function, being made."""

    def __init__(
        self, whole: FlatFunction, name: str, fed: frozenset[TensorName], with_effects: bool, silenced: frozenset[str]
    ) -> None:
        self._whole = whole
        self._fed = fed
        self._silenced = silenced
        self._with_effects = with_effects
        self._name = name
        self._definition: FunctionDef = type(whole.root.body.definition)()
        self._references: dict[TensorName, str] = {}

    def made(self, returns: Sequence[TensorName], effects: Sequence[str] | None) -> FlatDefinition:
        """The part that gives `returns` and has the side effects `effects`; None for those on the way only."""
        returned = tuple(returns)
        kept = self._reached(returned, effects)
        inputs = tuple(self._read_from_outside(kept, returned))
        for tensor in (*inputs, *returned):
            self._whole.type_of(tensor)  # raises what `output` does while the caller is there
        nodes = tuple(name for name in self._whole.nodes if name in kept)
        return FlatDefinition(inputs, returned, nodes, lambda: self._written(inputs, returned, kept, effects))

    def _written(
        self,
        inputs: Sequence[TensorName],
        returns: Sequence[TensorName],
        kept: set[str],
        effects: Sequence[str] | None,
    ) -> FunctionDef:
        """The FunctionDef with the nodes `kept`."""
        whole = self._whole
        self._begin()
        self._add_arguments(inputs)
        for name in whole.nodes:
            if name in kept:
                self._add(whole.nodes[name], kept)
        for position, tensor in enumerate(returns):
            output = f"value_{position}"
            self._definition.signature.output_arg.add(name=output, type=whole.type_of(tensor))
            self._definition.ret[output] = self._reference(tensor)
        for position, effect in enumerate(dict.fromkeys(effects or ())):
            output = f"effect_{position}"
            self._definition.control_ret[output] = effect
            self._definition.signature.control_output.append(output)
        if not self._with_effects:
            self._definition.signature.is_stateful = False
        return self._definition

    def _begin(self) -> None:
        """What the part has of the whole function beside nodes, arguments and outputs."""
        known = self._whole.root.body.definition
        self._definition.signature.CopyFrom(known.signature)
        for field in ("input_arg", "output_arg", "control_output"):
            self._definition.signature.ClearField(field)
        self._definition.signature.name = self._name
        for attribute in set(known.attr) - IMPLEMENTATION:
            self._definition.attr[attribute].CopyFrom(known.attr[attribute])

    def _reached(self, returns: Iterable[TensorName], effects: Iterable[str] | None) -> set[str]:
        ends = [name.node for name in returns if name not in self._fed] + list(effects or ())
        if effects is not None:
            for text in self._whole.root.body.returns:
                resolved(self._whole.root, text, ends)
        nodes = self._whole.nodes

        def needs(name: str) -> list[str]:
            read = [tensor.node for tensor in self._inputs(nodes[name]) if tensor not in self._fed]
            waits = (*nodes[name].controls, *nodes[name].through) if self._with_effects else ()
            return [other for other in (*read, *waits) if other in nodes]

        return set(reached((end for end in ends if end in nodes), needs))

    def _inputs(self, node: FlatNode) -> tuple[TensorName, ...]:
        return () if node.name in self._silenced else node.inputs

    def _read_from_outside(self, kept: set[str], returns: Iterable[TensorName]) -> list[TensorName]:
        """The arguments: those of the whole that are read, in order, and then what is fed."""
        whole = self._whole
        read = {name for node in kept for name in self._inputs(whole.nodes[node])} | set(returns)
        found = [name for name in whole.arguments if name in read and name not in self._fed]
        return found + sorted((name for name in read if name in self._fed), key=str)

    def _add_arguments(self, inputs: Sequence[TensorName]) -> None:
        whole = self._whole
        own = dict(zip(whole.arguments, whole.root.body.arguments, strict=True))
        places = {name: place for place, name in enumerate(whole.arguments)}
        known = whole.root.body.definition.arg_attr
        taken = set(whole.nodes)
        for position, name in enumerate(inputs):
            argument = own.get(name, f"fed_{position}")
            while argument in taken:
                argument += "_"
            taken.add(argument)
            self._definition.signature.input_arg.add(name=argument, type=whole.type_of(name))
            if name in places and places[name] in known:  # its shape, by which the graph optimizer goes
                self._definition.arg_attr[position].CopyFrom(known[places[name]])
            self._references[name] = argument

    def _reference(self, name: TensorName) -> str:
        return self._references.get(name) or self._whole.output(name).reference

    def _add(self, node: FlatNode, kept: set[str]) -> None:
        silenced = node.name in self._silenced
        made = marker(node.name, ()).template if silenced else deepcopy(node.template)
        made.name = node.name
        made.device = node.device
        made.ClearField("input")
        made.input.extend(map(self._reference, self._inputs(node)))
        if self._with_effects:
            waits = dict.fromkeys((*node.controls, *node.through))
            made.input.extend(f"^{name}" for name in waits if name != node.name)
        self._relocate(made, node, kept)
        self._definition.node_def.append(made)

    @staticmethod
    def _relocate(made: NodeDef, node: FlatNode, kept: set[str]) -> None:
        """Name the nodes that `made` is colocated with as they are named here; forget those that are not here."""
        scope = node.scope
        if scope is not None:
            colocation.rename(made, lambda name: found if (found := scope.name_of(name)) in kept else None)
