"""FunctionDefs as TensorFlow's runtime keeps them, read: nodes, what they read, what they give, what is needed.

The format is described in tensorflow/core/framework/function.proto: an input is `argument`, `node:output:index`
or `^node`, where `output` is the name of an output in the op's definition.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import AttrValue, FunctionDef, NodeDef, OpDef
from tfdbg_cli.model.dtypes import FIRST_REFERENCE, RESOURCE, element_type
from tfdbg_cli.model.names import without_number
from tfdbg_cli.model.walks import needs_first, reached
from tfdbg_cli.ops.control_flow import Edges, inside, nests
from tfdbg_cli.ops.kinds import ENTER, NEXT_ITERATION, SWITCH

# Attributes of functions: XLA compiles it; Grappler exchanges it for another that says the same
# (implementation_selector.cc).
XLA = "_XlaMustCompile"
IMPLEMENTATION = frozenset({"api_implements", "api_preferred_device"})


NodeOutput: TypeAlias = tuple[str, int]  # an output of a node, by its slot; an argument with slot 0


class Output(NamedTuple):
    """One output of a node: how a FunctionDef refers to it, and the number of its element type."""

    reference: str
    dtype: int

    @property
    def returnable(self) -> bool:
        """Whether a function may give it back as numbers: no handle, no reference to a variable."""
        return self.dtype < FIRST_REFERENCE and element_type(self.dtype).numpy is not None


class ReferenceTarget(NamedTuple):
    """What a reference names: argument `slot` when `node` is None, else output `slot` of `node`."""

    node: str | None
    slot: int


@dataclass(frozen=True, slots=True)
class NeededNodes:
    """The nodes that some outputs of a function need, inputs first, and for each the slots that are read.

    `hidden` are those inside a loop or a branch of version 1 (Enter to Exit, Switch to Merge): such a value need
    not be produced, so it cannot be given back.
    """

    nodes: tuple[NodeDef, ...]
    slots: Mapping[str, frozenset[int]]
    hidden: frozenset[str]


class Body:
    """One FunctionDef. `operations` are the names of the ops that it was made from, as far as they are known."""

    def __init__(self, definition: FunctionDef, operations: Collection[str] = ()) -> None:
        self.definition = definition
        self.name: str = definition.signature.name
        self.nodes: dict[str, NodeDef] = {node.name: node for node in definition.node_def}
        self.arguments: tuple[str, ...] = tuple(arg.name for arg in definition.signature.input_arg)
        self.argument_types: tuple[int, ...] = tuple(arg.type for arg in definition.signature.input_arg)
        self.returns: tuple[str, ...] = tuple(definition.ret[arg.name] for arg in definition.signature.output_arg)
        self.effects: tuple[str, ...] = tuple(definition.control_ret.values())
        self.python_names: Mapping[str, str] = _python_names(self.nodes, operations)
        self._positions = {name: index for index, name in enumerate(self.arguments)}
        self._outputs: dict[str, tuple[Output, ...]] = {}
        self._starts: dict[str, dict[str, int]] = {}
        self._found_sources: dict[str, ReferenceTarget] = {}  # asked for many times each
        self._found_needs: dict[str, tuple[str, ...]] = {}

    @property
    def plain(self) -> bool:
        """Whether every argument and output is one tensor of a fixed type, as tf.function makes them."""
        signature = self.definition.signature
        whole = all(
            arg.type and not arg.number_attr and not arg.type_list_attr
            for arg in (*signature.input_arg, *signature.output_arg)
        )
        return whole and not signature.attr

    @property
    def compiled(self) -> bool:
        """Whether XLA compiles the function as a whole."""
        attributes = self.definition.attr
        return XLA in attributes and bool(attributes[XLA].b)

    def python_name(self, node: str) -> str:
        """The name by which the program knows `node`.

        TensorFlow numbers a node whose name is that of an argument or an output of the function, and it writes those
        in lower case: an op called `log` becomes `log_0` where it is given back, as under a tape.
        """
        return self.python_names.get(node, node)

    def outputs(self, node: str) -> tuple[Output, ...]:
        """The outputs of `node`, by slot. Empty for an op that TensorFlow does not know."""
        if node not in self._outputs:
            self._read_outputs(node)
        return self._outputs[node]

    def source(self, reference: str) -> ReferenceTarget:
        """What `reference`, a data input of a node, names."""
        found = self._found_sources.get(reference)
        if found is None:
            found = self._found_sources[reference] = self._source(reference)
        return found

    def _source(self, reference: str) -> ReferenceTarget:
        parts = reference.split(":")
        if len(parts) == 1:
            return ReferenceTarget(None, self._positions[reference])
        node = parts[0]
        self.outputs(node)
        return ReferenceTarget(node, self._starts[node].get(parts[1], 0) + (int(parts[2]) if len(parts) > 2 else 0))

    def type_of(self, reference: str) -> int:
        """The number of the element type of what `reference` names."""
        source = self.source(reference)
        if source.node is None:
            return self.argument_types[source.slot]
        return self.outputs(source.node)[source.slot].dtype

    def data_inputs(self, node: NodeDef) -> list[str]:
        """The data inputs of a NodeDef, in order; the list is not to be changed."""
        found = self._found_inputs.get(id(node))
        return _data_inputs(node) if found is None else found

    @cached_property
    def _found_inputs(self) -> Mapping[int, list[str]]:
        # By the identity of a node, which is there as long as this is: to ask it for its name takes longer.
        return {id(node): _data_inputs(node) for node in self.nodes.values()}

    def handles(self, node: NodeDef) -> list[str]:
        """Those of its data inputs that are handles; an optimizer's op is given those of its slots, too."""
        return [text for text in self.data_inputs(node) if self.type_of(text) == RESOURCE]

    def needed(self, outputs: Iterable[int]) -> NeededNodes:
        """What the outputs at the positions `outputs`, and the side effects, need."""
        given = [self.source(self.returns[position]) for position in outputs]
        ends = (*(name for name in self.effects if name in self.nodes), *(one.node for one in given if one.node))
        slots: dict[str, set[int]] = {name: set() for name in reached(ends, self._needs)}
        inside = (self.source(text) for name in slots for text in self.data_inputs(self.nodes[name]))
        for source in (*given, *inside):
            if source.node is not None:
                slots[source.node].add(source.slot)
        nodes = tuple(self._in_order(slots))
        return NeededNodes(nodes, {name: frozenset(read) for name, read in slots.items()}, self._hidden(nodes))

    def _needs(self, node: str) -> Sequence[str]:
        """The nodes that `node` reads or waits for."""
        found = self._found_needs.get(node)
        if found is None:
            inputs, everything = self.data_inputs(self.nodes[node]), self.nodes[node].input
            names = [name for name, _ in map(self.source, inputs) if name is not None]
            if len(everything) > len(inputs):  # what it waits for comes last
                names += [text[1:] for text in everything[len(inputs) :]]
            found = self._found_needs[node] = tuple(name for name in names if name in self.nodes)
        return found

    def _in_order(self, wanted: Mapping[str, object]) -> Iterator[NodeDef]:
        """The nodes `wanted`, inputs first and otherwise as defined; a way back in a loop is not followed."""
        around = {name for name in wanted if self.nodes[name].op in NEXT_ITERATION}
        needs = (lambda name: [one for one in self._needs(name) if one not in around]) if around else self._needs
        order = needs_first((name for name in self.nodes if name in wanted), needs)
        return map(self.nodes.__getitem__, order)

    def _hidden(self, nodes: Iterable[NodeDef]) -> frozenset[str]:
        if not any(node.op in SWITCH or node.op in ENTER for node in nodes):
            return frozenset()
        edges = Edges(
            lambda name: str(self.nodes[name].op),
            self._needs,
            lambda name: str(self.nodes[name].attr["frame_name"].s.decode()),
        )
        return inside(nests((node.name for node in nodes), edges))

    def _read_outputs(self, name: str) -> None:
        node = self.nodes[name]
        single = _single_outputs(node.op)
        if single is not None and all(not by or by in node.attr for _, _, by in single):
            self._outputs[name] = tuple(
                Output(f"{name}:{output}:0", node.attr[by].type if by else dtype) for output, dtype, by in single
            )
            self._starts[name] = {output: slot for slot, (output, _, _) in enumerate(single)}
            return
        definition = compat.op_definition(node.op)
        if definition is None:  # a function called by its name, as an op
            called = compat.function_definition(node.op)
            definition = None if called is None else called.signature
        outputs: list[Output] = []
        starts: dict[str, int] = {}
        for arg in () if definition is None else definition.output_arg:
            starts[arg.name] = len(outputs)
            types = types_of(arg, node, definition)
            outputs.extend(Output(f"{name}:{arg.name}:{index}", dtype) for index, dtype in enumerate(types))
        self._outputs[name] = tuple(outputs)
        self._starts[name] = starts


def _data_inputs(node: NodeDef) -> list[str]:
    found: list[str] = list(node.input)
    while found and found[-1].startswith("^"):  # those are the last
        found.pop()
    return found


def _python_names(nodes: Iterable[str], operations: Collection[str]) -> dict[str, str]:
    """By the name of a node the name of the op that it was made from, where that is another."""
    if not operations:
        return {}
    known = set(nodes)
    found: dict[str, str] = {}
    for name in known.difference(operations):
        base = without_number(name)
        if base in operations and base not in known:
            found[name] = base
    return found


@cache
def _single_outputs(op_type: str) -> tuple[tuple[str, int, str], ...] | None:
    """The outputs of ops of that type: name, element type, or else the attribute that tells it.

    None where one of them is a list or a reference, or where the type is no op's: then the whole definition is read.
    """
    definition = compat.op_definition(op_type)
    args = () if definition is None else definition.output_arg
    if definition is None or any(arg.number_attr or arg.type_list_attr or arg.is_ref for arg in args):
        return None
    return tuple((arg.name, arg.type, "" if arg.type else arg.type_attr) for arg in args)


def types_of(arg: Any, node: NodeDef, definition: OpDef) -> list[int]:
    """The element types, by number, of the outputs or inputs of `node` for which `arg`, of its definition, stands."""
    if arg.type_list_attr:
        return list(_attribute(arg.type_list_attr, node, definition).list.type)
    dtype = arg.type or _attribute(arg.type_attr, node, definition).type
    if arg.is_ref and dtype < FIRST_REFERENCE:
        dtype += FIRST_REFERENCE - 1
    count = _attribute(arg.number_attr, node, definition).i if arg.number_attr else 1
    return [dtype] * count


def _attribute(name: str, node: NodeDef, definition: OpDef) -> AttrValue:
    if name in node.attr:
        return node.attr[name]
    return next(attr.default_value for attr in definition.attr if attr.name == name)


def attribute_of(node: NodeDef, name: str) -> Any:
    """The attribute `name` of `node` as a Python value; its default where it is left out.

    None when the op has no such attribute. A tensor, a shape or a function stays the message that it is.
    """
    if name in node.attr:
        return _content(node.attr[name])
    definition = compat.op_definition(node.op)
    for attribute in () if definition is None else definition.attr:
        if attribute.name == name and attribute.HasField("default_value"):
            return _content(attribute.default_value)
    return None


def _content(value: AttrValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "s":
        return value.s.decode(errors="replace")
    if kind == "list":
        filled = [list(items) for _, items in value.list.ListFields()]
        return filled[0] if filled else []
    return None if kind is None else getattr(value, kind)


class Library:
    """Functions by name, each read once: those of the eager runtime, or what `definition_of` gives.

    `operations` gives the names of the ops that a function was made from, as `Body` takes them.
    """

    def __init__(
        self,
        operations: Callable[[str], Collection[str]] = lambda name: (),
        definition_of: Callable[[str], FunctionDef | None] | None = None,
    ) -> None:
        self._bodies: dict[str, Body | None] = {}
        self._operations = operations
        self._definition_of = definition_of or compat.function_definition

    def find(self, name: str) -> Body | None:
        """The function called `name`; None when there is none, or one whose types are left open."""
        if name not in self._bodies:
            definition = self._definition_of(name)
            body = None if definition is None else Body(definition, self._operations(name))
            self._bodies[name] = body if body is not None and body.plain else None
        return self._bodies[name]
