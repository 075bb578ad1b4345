"""The graph that the runtime executed on one device, as the program would have it: without the debugger's nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from tfdbg_cli.debug_data.reference_ops import gives_reference
from tfdbg_cli.formats.messages.graph_nodes import debug_nodes, plain_inputs, rendezvous, tensor_name
from tfdbg_cli.model.graph import Node
from tfdbg_cli.ops.kinds import TRANSFERS

_SLASHES = re.compile("/{2,}")


def plain_name(name: str) -> str:
    """`name` as paths keep it: without repeated slashes."""
    return _SLASHES.sub("/", name) if "//" in name else name


class PartitionGraph:
    """What reads what on one device. Inputs are as in a GraphDef: `node`, or `node:1` for a further output.

    Of several GraphDefs (several runs wrote into one folder) the first that has a node tells of it.
    """

    def __init__(self, device_name: str, graph_defs: Sequence[Any]) -> None:
        self.device_name = device_name
        self.debug_graph_def = graph_defs[0]
        self.inputs: dict[str, list[str]] = {}
        self.control_inputs: dict[str, list[str]] = {}
        self.op_types: dict[str, str] = {}
        self.attributes: dict[str, Mapping[str, Any]] = {}
        self.devices: dict[str, str] = {}
        self.rendezvous: dict[str, tuple[bytes, ...]] = {}  # of nodes that send or receive
        for graph_def in graph_defs:
            debug = debug_nodes(graph_def)
            for proto in graph_def.node:
                name = plain_name(proto.name)
                if proto.name not in debug and name not in self.op_types:
                    self._add(name, proto, debug)

    def _add(self, name: str, proto: Any, debug: Mapping[str, str]) -> None:
        inputs, controls = plain_inputs(proto, debug)
        self.inputs[name] = list(map(plain_name, inputs))
        self.control_inputs[name] = list(map(plain_name, controls))
        self.op_types[name] = proto.op
        self.attributes[name] = proto.attr
        self.devices[name] = proto.device or self.device_name
        if proto.op in TRANSFERS:
            self.rendezvous[name] = rendezvous(proto)

    @cached_property
    def recipients(self) -> dict[str, list[str]]:
        """Who reads an output of each node; who reads two stands there twice."""
        return self._readers(self.inputs)

    @cached_property
    def control_recipients(self) -> dict[str, list[str]]:
        """Who waits for each node."""
        return self._readers(self.control_inputs)

    def _readers(self, read: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {name: [] for name in self.op_types}
        for name, inputs in read.items():
            for text in inputs:
                found.setdefault(tensor_name(text).node, []).append(name)
        return found

    @cached_property
    def reference_readers(self) -> dict[str, list[str]]:
        """Who reads a reference that each node gives, and may write what is behind it."""
        found: dict[str, list[str]] = {}
        for name, inputs in self.inputs.items():
            for read in map(tensor_name, inputs):
                if gives_reference(self.op_types.get(read.node, ""), read.slot):
                    found.setdefault(read.node, []).append(name)
        return found

    @cached_property
    def non_debug_graph_def(self) -> Any:
        """The GraphDef without the debugger's nodes."""
        return reconstruct_non_debug_graph_def(self.debug_graph_def)

    def nodes(self) -> Iterable[Node]:
        """The nodes for the model's Graph, without attributes."""
        for name, op_type in self.op_types.items():
            inputs = tuple(map(tensor_name, self.inputs[name]))
            yield Node(name, op_type, self.device_name, inputs, tuple(self.control_inputs[name]))


def reconstruct_non_debug_graph_def(debug_graph_def: Any) -> Any:
    """A GraphDef like `debug_graph_def`, of the same class, without the nodes that TensorFlow's debugger put in.

    Names of nodes that the runtime made (`_Send`, `_Recv`, `_Retval`) may differ from those of a run that was not
    debugged, and loops keep `parallel_iterations` at 1, which the debugger sets.
    """
    result = type(debug_graph_def)()
    result.CopyFrom(debug_graph_def)
    del result.node[:]
    debug = debug_nodes(debug_graph_def)
    for proto in debug_graph_def.node:
        if proto.name in debug:
            continue
        inputs, controls = plain_inputs(proto, debug)
        plain = result.node.add()
        plain.CopyFrom(proto)
        del plain.input[:]
        plain.input.extend([*inputs, *(f"^{name}" for name in controls)])
    return result
