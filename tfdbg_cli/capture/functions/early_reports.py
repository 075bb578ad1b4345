"""Early reports: what a function tells while it runs, since one that fails gives nothing back.

What an op drew from outside is reported before anybody reads it, and what a node is given before it runs. So both are
known of a run that failed, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfdbg_cli.capture.functions.definition.body import Source
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.edit import Edit
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.names import TensorName


@dataclass(frozen=True)
class Early:
    """What is to be reported early: the outputs `drawn` by ops, and what the nodes `asked` are given."""

    drawn: frozenset[TensorName] = frozenset()
    asked: frozenset[str] = frozenset()

    def within(self, scope: Scope) -> tuple[str, ...]:
        """The names of the nodes that report in the function of `scope` or below."""
        if not self.drawn and not self.asked:
            return ()
        nodes = {name.node for name in self.drawn} | self.asked
        return tuple(name for inner in scope.all() for name in map(inner.name_of, inner.body.nodes) if name in nodes)

    def add_reports(self, edit: Edit, scope: Scope, first: int, token: bytes) -> Iterator[tuple[TensorName, ...]]:
        """Have the function of `scope`, of which `edit` is an unchanged copy, report; gives the names in each report.

        The reports reach the callback `token` under the numbers `first`, `first - 1` and so on.
        """
        drawing = {name.node for name in self.drawn}
        for node in scope.body.nodes.values():
            name = scope.name_of(node.name)
            if name in drawing:
                yield self._report_outputs(edit, scope, node, first, token)
                first -= 1
            if name in self.asked:
                yield _report_inputs(edit, scope, node, first, token)
                first -= 1

    def _report_outputs(
        self, edit: Edit, scope: Scope, node: NodeDef, number: int, token: bytes
    ) -> tuple[TensorName, ...]:
        outputs = {slot: output for slot, output in enumerate(scope.body.outputs(node.name))}
        names = {slot: TensorName(scope.name_of(node.name), slot) for slot in outputs}
        chosen = [slot for slot in outputs if names[slot] in self.drawn and outputs[slot].returnable]
        given = [(outputs[slot].reference, outputs[slot].dtype) for slot in chosen]
        report = edit.call_back(number, given, (), token)
        for slot in chosen:
            after = edit.add("tfdbg_drawn", "Identity", [outputs[slot].reference, f"^{report}"])
            after.attr["T"].type = outputs[slot].dtype
            _redirect(edit, scope, Source(node.name, slot), f"{after.name}:output:0")
        return tuple(names[slot] for slot in chosen)


def _report_inputs(edit: Edit, scope: Scope, node: NodeDef, number: int, token: bytes) -> tuple[TensorName, ...]:
    given = [(text, scope.body.type_of(text)) for text in scope.body.data_inputs(node)]
    given = [(text, dtype) for text, dtype in given if element_type(dtype).numpy is not None]
    report = edit.call_back(number, given, [text[1:] for text in node.input if text.startswith("^")], token)
    edit.nodes[node.name].input.append(f"^{report}")
    return tuple(scope.resolve(text) for text, _ in given)


def _redirect(edit: Edit, scope: Scope, source: Source, reference: str) -> None:
    """Have all that reads `source` in the function read `reference` instead."""
    for name in scope.body.nodes:
        node = edit.nodes[name]
        for position, text in enumerate(node.input):
            if text.split(":", 1)[0] == source.node and not text.startswith("^") and _means(scope, text, source):
                node.input[position] = reference
    for output, text in list(edit.definition.ret.items()):
        if _means(scope, text, source):
            edit.definition.ret[output] = reference


def _means(scope: Scope, text: str, source: Source) -> bool:
    return text.startswith(f"{source.node}:") and scope.body.source(text) == source
