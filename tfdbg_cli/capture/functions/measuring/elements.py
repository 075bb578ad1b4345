"""Finds the tensor that another one has its elements from, so that its statistics follow from those of the former."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tfdbg_cli.capture.functions.checking.static_facts import StaticFacts
from tfdbg_cli.capture.functions.checking.updated_variables import UpdatedVariable
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.questions.question import element_count
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.kinds import IDENTITIES, REPEATS, SAME_ELEMENTS

_WITH_SIGN = frozenset({"float16", "bfloat16", "float32", "float64"})  # no integers: the least one has no negation
_OF_SEVERAL = frozenset({"Sum", "Mean", "Prod", "Max", "Min"})  # reducing single elements leaves them as they are


@dataclass(frozen=True)
class MeasuredElements:
    """The elements of the tensor `reference` in `scope`, negated if `negated`, each repeated `times` times."""

    scope: Scope
    reference: str
    negated: bool = False
    times: int = 1


class ElementSources:
    """Finds where the elements of tensors are made. `updated` are all variables that the function writes."""

    def __init__(self, facts: StaticFacts, updated: Sequence[UpdatedVariable]) -> None:
        self._facts = facts
        self._assigned = _assigned_once(updated)

    def of(self, scope: Scope, reference: str) -> MeasuredElements:
        """Where the elements of what `scope` calls `reference` are made."""
        negated, times = False, 1
        while True:
            scope, reference = scope.made_at(reference)
            source = scope.body.source(reference)
            node = None if source.node is None else scope.body.nodes[source.node]
            if node is None or (source.slot and node.op not in IDENTITIES):
                break
            if node.op == "ReadVariableOp":
                held = self._assigned_before(scope, node)
                if held is None:
                    break
                scope, reference = held
                continue
            given = scope.body.data_inputs(node)[source.slot :]
            if node.op in REPEATS | _OF_SEVERAL:
                whole, part = self._size(scope, reference), self._size(scope, given[0])
                if not whole or not part or (node.op in _OF_SEVERAL and whole != part):
                    break
                times *= whole // part
            elif node.op == "Neg" and element_type(scope.body.type_of(reference)).name in _WITH_SIGN:
                negated = not negated
            elif node.op not in SAME_ELEMENTS | IDENTITIES:
                break
            reference = given[0]
        return MeasuredElements(scope, reference, negated, times)

    def _size(self, scope: Scope, reference: str) -> int | None:
        return element_count(self._facts.shape(scope.resolve(reference)))

    def _assigned_before(self, scope: Scope, read: NodeDef) -> tuple[Scope, str] | None:
        """The value that a variable was assigned right before `read`: scope and reference; None if not certain."""
        variable = self._assigned.get(scope.resolve(scope.body.data_inputs(read)[0]))
        if variable is None or variable.scope is not scope or variable.same_as is None:
            return None
        waits = [text[1:] for text in read.input if text.startswith("^")]
        acting = tuple(name for name in waits if scope.body.nodes[name].op != "ReadVariableOp")
        return variable.reads[variable.same_as] if acting == variable.waits else None


def _assigned_once(updated: Sequence[UpdatedVariable]) -> Mapping[TensorName, UpdatedVariable]:
    """By their handles, the variables that are written exactly once, by an assignment."""
    handles = [variable.scope.resolve(variable.handle) for variable in updated]
    counts = Counter(handles)
    return {
        handle: variable
        for handle, variable in zip(handles, updated, strict=True)
        if counts[handle] == 1 and variable.same_as is not None
    }
