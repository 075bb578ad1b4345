"""A function of a graph's library as nodes that read each other by slots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tfdbg_cli.formats.messages.attribute_text import AttributeTexts, dtype_text
from tfdbg_cli.model.calls import CallArgument
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName

ARGUMENT = "Placeholder"  # what arguments are in the graphs of functions
UNSURE = (
    "The file has no definitions of ops, so outputs of one op with names of their own are counted in the order in"
    " which they are read here."
)
_MOST_OUTPUTS = 1 << 20  # an attribute may claim any number


@dataclass
class OutputSlots:
    """At which slot of a node an output with a name begins: in functions outputs are read by name.

    `definitions` are those of ops, and `signature` finds that of a function by its name. `guessed` tells whether a
    slot had to be counted in the order in which outputs were read.
    """

    definitions: Mapping[str, Any]
    signature: Callable[[str], Any]
    guessed: bool = field(default=False, init=False)

    def slots(self, node: Any) -> dict[str, int]:
        """The first slot of each named output of a NodeDef, as far as its definition is known."""
        definition = self.definitions.get(node.op) or self.signature(node.op)
        found: dict[str, int] = {}
        at = 0
        for output in definition.output_arg if definition is not None else ():
            found[output.name] = at
            at += _count(node, output)
        return found


def _count(node: Any, output: Any) -> int:
    """How many tensors an output with a name is."""
    if output.number_attr:
        count = node.attr[output.number_attr].i if output.number_attr in node.attr else 1
    elif output.type_list_attr:
        count = len(node.attr[output.type_list_attr].list.type) if output.type_list_attr in node.attr else 1
    else:
        count = 1
    return int(min(max(count, 0), _MOST_OUTPUTS))


class FunctionBody:
    """The nodes of a FunctionDef: its arguments first, then its ops."""

    def __init__(self, definition: Any, outputs: OutputSlots) -> None:
        self._definition = definition
        self._outputs = outputs
        self._protos = {proto.name: proto for proto in definition.node_def}
        self._arguments = {argument.name for argument in definition.signature.input_arg}
        self._slots: dict[str, dict[str, int]] = {}

    def nodes(self) -> Iterator[Node]:
        """The nodes, in the order of the file."""
        for argument in self._definition.signature.input_arg:
            yield Node(argument.name, ARGUMENT, "", attributes={"dtype": dtype_text(argument.type)})
        for proto in self._definition.node_def:
            inputs = tuple(self._tensor(text) for text in proto.input if not text.startswith("^"))
            controls = tuple(text[1:] for text in proto.input if text.startswith("^"))
            yield Node(proto.name, proto.op, proto.device, inputs, controls, AttributeTexts(proto))

    @property
    def arguments(self) -> tuple[CallArgument, ...]:
        """What the function is given."""
        given = self._definition.signature.input_arg
        return tuple(CallArgument(one.name, dtype_text(one.type), None) for one in given)

    @property
    def results(self) -> tuple[str, ...]:
        """The tensors that it gives back, in the order of its signature."""
        returned = self._definition.ret
        wanted = [one.name for one in self._definition.signature.output_arg]
        return tuple(str(self._tensor(returned[name])) for name in wanted if name in returned)

    def _tensor(self, text: str) -> TensorName:
        """The tensor that `argument`, `node:output` or `node:output:number` means."""
        name, _, rest = text.partition(":")
        if not rest or name in self._arguments:
            return TensorName(name, 0)
        output, _, number = rest.partition(":")
        index = int(number) if number.isdecimal() and len(number) < 10 else 0
        if output.isdecimal() and not number:
            return TensorName(name, int(output) if len(output) < 10 else 0)
        return TensorName(name, self._first(name, output) + index)

    def _first(self, name: str, output: str) -> int:
        slots = self._slots.get(name)
        if slots is None:
            proto = self._protos.get(name)
            slots = self._slots[name] = {} if proto is None else self._outputs.slots(proto)
        if output not in slots:
            self._outputs.guessed = self._outputs.guessed or bool(slots)
            slots[output] = len(slots)
        return slots[output]
