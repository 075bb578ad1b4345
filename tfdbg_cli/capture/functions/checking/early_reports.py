"""Early reports: what a function hands to a callback while it runs, since one that fails returns nothing.

What an op draws is reported before anything reads it, and the inputs of a node before it runs, so that both are known
even if the run fails. A run that is made again because it failed can report every value in this way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tfdbg_cli.capture.functions.definition.body import Output, ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import ARGUMENT, CallKind, Scope
from tfdbg_cli.capture.functions.definition.edit import Edit
from tfdbg_cli.capture.functions.definition.own_names import in_place_of
from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.graph import LOOP_VARIABLE
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.kinds import FAKES


@dataclass(frozen=True)
class Early:
    """What is to be reported early: the outputs `drawn` by ops, and what the nodes `asked` are given.

    With `everything` it is every value that a run shows.
    """

    drawn: frozenset[TensorName] = frozenset()
    asked: frozenset[str] = frozenset()
    everything: bool = False

    def within(self, scope: Scope) -> tuple[str, ...]:
        """The names of the nodes that report in the function of `scope` or below."""
        if self.everything:
            return tuple(name for inner in scope.all() for name in map(inner.name_of, inner.body.nodes))
        if not self.drawn and not self.asked:
            return ()
        nodes = {name.node for name in self.drawn} | self.asked
        return tuple(name for inner in scope.all() for name in map(inner.name_of, inner.body.nodes) if name in nodes)

    def add_reports(self, edit: Edit, scope: Scope, first: int, token: bytes) -> Iterator[tuple[TensorName, ...]]:
        """Have the function of `scope`, of which `edit` is an unchanged copy, report; gives the names in each report.

        The reports reach the callback `token` under the numbers `first`, `first - 1` and so on.
        """
        if self.everything:
            yield from _report_everything(edit, scope, first, token)
            return
        drawing = {name.node for name in self.drawn}
        instead: dict[ReferenceTarget, str] = {}
        for node in scope.body.nodes.values():
            name = scope.name_of(node.name)
            if name in drawing:
                yield self._report_outputs(edit, scope, node, (first, token), instead)
                first -= 1
            if name in self.asked:
                yield _report_inputs(edit, scope, node, first, token)
                first -= 1
        edit.redirect(instead)

    def _report_outputs(
        self, edit: Edit, scope: Scope, node: NodeDef, to: tuple[int, bytes], instead: dict[ReferenceTarget, str]
    ) -> tuple[TensorName, ...]:
        outputs = {slot: output for slot, output in enumerate(scope.body.outputs(node.name))}
        names = {slot: TensorName(scope.name_of(node.name), slot) for slot in outputs}
        chosen = [slot for slot in outputs if names[slot] in self.drawn and outputs[slot].returnable]
        _report(edit, [(ReferenceTarget(node.name, slot), outputs[slot]) for slot in chosen], to, instead)
        return tuple(names[slot] for slot in chosen)


def _report(
    edit: Edit,
    values: Sequence[tuple[ReferenceTarget, Output]],
    to: tuple[int, bytes],
    instead: dict[ReferenceTarget, str],
) -> None:
    """Report `values` under a number to a callback; notes in `instead` the copies, made after that, to read then."""
    number, token = to
    given = [(edit.copies.get(output.reference, output.reference), output.dtype) for _, output in values]
    report = edit.call_back(number, given, (), token)
    for source, output in values:
        name = in_place_of(source.node or output.reference, source.slot)
        instead[source] = edit.behind(name, output.reference, output.dtype, report)


def _report_inputs(edit: Edit, scope: Scope, node: NodeDef, number: int, token: bytes) -> tuple[TensorName, ...]:
    given = [(text, scope.body.type_of(text)) for text in scope.body.data_inputs(node)]
    given = [(text, dtype) for text, dtype in given if element_type(dtype).numpy is not None]
    report = edit.call_back(number, given, [text[1:] for text in node.input if text.startswith("^")], token)
    edit.nodes[node.name].input.append(f"^{report}")
    return tuple(scope.resolve(text) for text, _ in given)


def _report_everything(edit: Edit, scope: Scope, first: int, token: bytes) -> Iterator[tuple[TensorName, ...]]:
    """Have the function of `scope` report each value that it shows before it is read: the names in each report."""
    instead: dict[ReferenceTarget, str] = {}
    for at, values in enumerate(_shown_early(scope)):
        _report(edit, [(source, output) for _, source, output in values], (first - at, token), instead)
        yield tuple(shown.name for shown, _, _ in values)
    edit.redirect(instead)


def _shown_early(scope: Scope) -> Iterator[Sequence[tuple[Shown, ReferenceTarget, Output]]]:
    """The values of `scope` that are reported, those of one node together, inputs first.

    Before all others come the variables of a loop, or those arguments of the run's own function that stand for the
    output of an op.
    """
    body = scope.body
    given = [
        (
            Shown(name, LOOP_VARIABLE if scope.parent else ARGUMENT, "", argument.dtype),
            ReferenceTarget(None, position),
            argument,
        )
        for position, name in (scope.loop_variables or scope.stands_for).items()
        if (argument := scope.argument(position)).returnable
    ]
    if given:
        yield given
    for node in scope.needed.nodes:
        site = scope.calls.get(node.name)
        if node.name in scope.needed.hidden or node.op in FAKES or (site and site.kind is CallKind.PLAIN):
            continue
        own = scope.name_of(node.name)
        values = [
            (
                Shown(TensorName(own, slot), node.op, node.device, output.dtype),
                ReferenceTarget(node.name, slot),
                output,
            )
            for slot, output in enumerate(body.outputs(node.name))
            if output.returnable
        ]
        if values:
            yield values


def shown_early(root: Scope) -> dict[TensorName, Shown]:
    """The descriptions of all values that `root` and the functions below it report with `Early.everything`."""
    return {shown.name: shown for scope in root.all() for values in _shown_early(scope) for shown, _, _ in values}
