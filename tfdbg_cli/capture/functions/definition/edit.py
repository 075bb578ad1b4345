"""Changes a FunctionDef: adds nodes, arguments, outputs, side effects and reports."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy

from tfdbg_cli.capture.functions.definition.body import XLA, ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.shown_values import Item
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.model.dtypes import INT32
from tfdbg_cli.model.names import node_of

_STATEFUL = {
    "PartitionedCall": "StatefulPartitionedCall",
    "StatelessIf": "If",
    "StatelessCase": "Case",
    "StatelessWhile": "While",
}


# The attribute of our ops that says what of the program each of their inputs is.
READS = "_tfdbg_reads"


def told_source(scope: Scope, reference: str) -> str:
    """What `reference` means in the function of `scope`, as the attribute `READS` has it; empty for an argument."""
    source = scope.body.source(reference) if reference else ReferenceTarget(None, 0)
    return "" if source.node is None else f"{scope.body.name}|{source.node}|{source.slot}"


def source_told(text: str) -> tuple[str, ReferenceTarget] | None:
    """The name of the function and the source in a text of `told_source`; None for any other text."""
    function, node, slot = [*text.split("|"), "", ""][:3]
    return (function, ReferenceTarget(node, int(slot))) if node else None


class Edit:
    """A copy of one FunctionDef, being changed."""

    def __init__(self, scope: Scope) -> None:
        self.definition = deepcopy(scope.body.definition)
        self.nodes = {node.name: node for node in self.definition.node_def}
        self.scope = scope
        self._waits: list[str] = []
        self._numbers: dict[str, int] = {}
        self.copies: dict[str, str] = {}  # by reference, of outputs that only the program is to hold

    def make_stateful(self, node: NodeDef) -> None:
        """Make the call `node` stateful, since it reports: it must run, and later reports wait for it.

        They wait for a node of its own. The optimizer drops the wait for a call whose values are read as well, and
        when what is called is put in the place of the call, a value that it gives may come before its reports.
        """
        node.op = _STATEFUL.get(node.op, node.op)
        if XLA in node.attr:
            del node.attr[XLA]
        self.run_always(node.name)
        ended = self.add("tfdbg_ended", "NoOp", [f"^{node.name}"])
        self.run_always(ended.name)  # else the optimizer would have the reports wait for the call itself
        self._waits.append(ended.name)

    def drop_checks(self) -> None:
        """Disable the checks that XLA leaves out (tf2xla), for a function meant for XLA that has to run without."""
        for node in self.definition.node_def:
            if node.op == "Assert":
                sources = [node_of(text) for text in node.input if text[0] == "^" or ":" in text]
                node.op = "NoOp"
                node.ClearField("attr")
                node.ClearField("input")
                node.input.extend(f"^{source}" for source in dict.fromkeys(sources))
            elif node.op == "CheckNumerics":
                node.op = "Identity"
                del node.attr["message"]

    def run_always(self, node: str) -> None:
        """Make `node` a side effect of the function."""
        if node not in self.definition.control_ret.values():
            name = self.free_name("tfdbg_effect", self.definition.control_ret)
            self.definition.control_ret[name] = node
            self.definition.signature.control_output.append(name)
        self.definition.signature.is_stateful = True

    def free_name(self, wanted: str, taken: Collection[str]) -> str:
        """`wanted`, numbered until it is not in `taken`."""
        for number in itertools.count(self._numbers.get(wanted, 0)):
            self._numbers[wanted] = number + 1
            if f"{wanted}_{number}" not in taken:
                break
        return f"{wanted}_{number}"

    def give_back(self, wanted: str, dtype: int, reference: str) -> None:
        """Add an output."""
        name = wanted if wanted not in self.definition.ret else self.free_name(wanted, self.definition.ret)
        self.definition.signature.output_arg.add(name=name, type=dtype)
        self.definition.ret[name] = reference

    def be_empty(self) -> None:
        """Remove all that the function does; its arguments and outputs stay declared."""
        self.definition.ClearField("node_def")
        self.definition.ClearField("control_ret")
        self.definition.signature.ClearField("control_output")
        self.definition.signature.is_stateful = False
        self.nodes = {}

    def take(self, wanted: str, dtype: int) -> str:
        """Add an argument; gives how the function refers to it."""
        arguments = [argument.name for argument in self.definition.signature.input_arg]
        name = self.free_name(wanted, {*arguments, *self.nodes})
        self.definition.signature.input_arg.add(name=name, type=dtype)
        return name

    def returns(self) -> list[str]:
        """The references of the function's outputs, in order."""
        return [self.definition.ret[output.name] for output in self.definition.signature.output_arg]

    def add(self, wanted: str, op: str, inputs: Sequence[str], device: str = "") -> NodeDef:
        """Add a node."""
        name = self.free_name(wanted, self.nodes)
        node = self.definition.node_def.add(name=name, op=op, input=inputs, device=device)
        self.nodes[name] = node
        return node

    def tell_reads(self, node: NodeDef, references: Sequence[str]) -> None:
        """Note at `node`, one of ours, which values of the program its data inputs are or stand for, in order."""
        told = [told_source(self.scope, text) for text in references if not text.startswith("^")]
        node.attr[READS].list.s.extend(text.encode() for text in told)

    def call(self, function: str, inputs: Sequence[str], types: Iterable[int], gives: Iterable[int]) -> str:
        """Add a call of a function with arguments of `types`; gives the name of the node.

        It comes after the side effects of this function, if the called one has any.
        """
        node = self.add("tfdbg_call", "StatefulPartitionedCall", inputs)
        node.attr["Tin"].list.type.extend(types)
        node.attr["Tout"].list.type.extend(gives)
        node.attr["f"].func.name = function
        for name in ("config", "config_proto", "executor_type"):
            node.attr[name].s = b""
        self.run_always(node.name)
        return str(node.name)

    def copy(self, reference: str, dtype: int) -> str:
        """Add a copy of a value, in memory of its own: the name of the node. It stands in `copies` from then on."""
        node = self.add("tfdbg_copy", "DeepCopy", [reference])
        node.attr["T"].type = dtype
        self.copies[reference] = f"{node.name}:y:0"
        return str(node.name)

    def behind(self, name: str, reference: str, dtype: int, after: str) -> str:
        """Add what hands a value on once the node `after` has run; gives how the function refers to it."""
        node = self.add(name, "Identity", [reference, f"^{after}"])
        node.attr["T"].type = dtype
        return f"{node.name}:output:0"

    def redirect(self, instead: Mapping[ReferenceTarget, str]) -> None:
        """Let all nodes of the program, and its outputs, read `instead[source]` in the place of `source`."""
        body = self.scope.body
        for name in body.nodes if instead else ():
            node = self.nodes[name]
            for position, text in enumerate(node.input):
                if not text.startswith("^"):
                    node.input[position] = instead.get(body.source(text), text)
        for output, text in list(self.definition.ret.items()) if instead else ():
            self.definition.ret[output] = instead.get(body.source(text), text)

    def read_after(self, handle: str, waits: Sequence[str], dtype: int) -> str:
        """Add a read of a variable that comes after the nodes `waits`; gives how the function refers to it."""
        node = self.add("tfdbg_updated", "ReadVariableOp", [handle, *(f"^{name}" for name in waits)])
        node.attr["dtype"].type = dtype
        return f"{node.name}:value:0"

    def read_before(self, handle: str, waits: Sequence[str], dtype: int) -> str:
        """Add a read of a variable that comes before the nodes `waits`; gives how the function refers to it."""
        node = self.add("tfdbg_before", "ReadVariableOp", [handle])
        node.attr["dtype"].type = dtype
        for name in waits:
            self.nodes[name].input.append(f"^{node.name}")
        return f"{node.name}:value:0"

    def report(self, frame: int, items: Iterable[Item], token: bytes) -> None:
        """Add the report of the values `items` of a frame, after those of the branches and loops inside."""
        given = [
            (item.reference, item.shown.dtype)
            for item in items
            if item.given_back and item.shown is not None and item.reference is not None
        ]
        # After the side effects too: a turn that fails has not ended.
        waits = dict.fromkeys([*self._waits, *(name for name in self.scope.body.effects if name in self.nodes)])
        report = self.call_back(frame, given, waits, token)
        if self.scope.is_condition:
            self._wait_for(report)

    def call_back(self, number: int, given: Sequence[tuple[str, int]], waits: Iterable[str], token: bytes) -> str:
        """Add a call of the callback `token` in this process after the nodes `waits`: the name of the node.

        It is given `number` and the values in `given`: how the function refers to them, and their types.
        """
        constant = self.add("tfdbg_number", "Const", [])
        constant.attr["dtype"].type = INT32
        constant.attr["value"].tensor.dtype = INT32
        constant.attr["value"].tensor.tensor_shape.SetInParent()
        constant.attr["value"].tensor.int_val.append(number)
        inputs = [f"{constant.name}:output:0", *(reference for reference, _ in given)]
        report = self.add("tfdbg_report", "EagerPyFunc", [*inputs, *(f"^{name}" for name in waits)])
        report.attr["token"].s = token
        report.attr["is_async"].b = False
        report.attr["Tin"].list.type.extend([INT32, *(dtype for _, dtype in given)])
        report.attr["Tout"].list.SetInParent()
        self.run_always(report.name)
        return str(report.name)

    def _wait_for(self, effect: str) -> None:
        """Give the first output only after `effect`: nobody else waits for side effects of a loop's condition."""
        output = self.definition.signature.output_arg[0]
        after = self.add("tfdbg_after", "Identity", [self.definition.ret[output.name], f"^{effect}"])
        after.attr["T"].type = output.type
        self.definition.ret[output.name] = f"{after.name}:output:0"
