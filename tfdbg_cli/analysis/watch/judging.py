"""Rules asked of one run: what passes them, less what another rule says already."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.nodes.trained_variables import TrainedVariables
from tfdbg_cli.analysis.watch.answers import Raised, ask
from tfdbg_cli.analysis.watch.datum import datum_of
from tfdbg_cli.analysis.watch.filter import Among, Bad, Filter, TensorFilter
from tfdbg_cli.analysis.watch.filters import our_filter
from tfdbg_cli.analysis.watch.unscaled_gradients import unscaled_gradients
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.rules import Rule
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import NoValue

_UNCHANGED = "unchanged_variable"


@dataclass(frozen=True, slots=True)
class Judged:
    """The tensors that passed a rule, by their indices, and what the rule raised.

    `scaled` tells of those that are gradients without the loss scale which gradients of the tape they are.
    """

    passed: tuple[int, ...]
    scaled: dict[int, TensorName]
    raised: Raised


def looks_for_nan(tensor_filter: TensorFilter) -> bool:
    """Whether the filter is one of tfdbg's that look for NaN. They are to be asked before the others."""
    ours = our_filter(tensor_filter)
    return ours is not None and Bad.NAN in ours.finds


class Judging:
    """Asks one rule after the other of one run.

    A NaN passes `exploding_gradient`, `unchanged_variable` and `dead_relu`, too: what a rule about NaN has told is
    left out there. Of gradients with a loss scale that one is judged which is without; an update that the scale
    skips has none, so that then those with the scale are. Of variables those are asked about that are trained.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._told: set[int] = set()  # passed a rule about NaN

    def ask(self, rule: Rule, tensor_filter: TensorFilter) -> Judged:
        """The tensors that pass `tensor_filter`, among those that `rule` is asked about."""
        only, exclude = re.compile(rule.only).search, re.compile(rule.exclude).search if rule.exclude else None
        store = self._run.tensors
        asked = [
            index
            for index in range(len(store))
            if only(store[index].node) and not (exclude is not None and exclude(store[index].node))
        ]
        ours = our_filter(tensor_filter)
        scaled = dict(self._unscaled(asked)) if ours is not None and ours.among is Among.GRADIENTS else {}
        plain = [index for index in asked if index not in scaled] if scaled else asked
        if ours is not None and ours.name == _UNCHANGED:
            plain = self._trained(plain)
        answered = ask(self._run, plain, tensor_filter, {})
        passed, names = list(answered.passed), dict[int, TensorName]()
        for index, rows in scaled.items():
            datum = datum_of(self._run, index)  # the gradient is one of the last by its own place in the graph
            for row in rows:
                if row not in names and tensor_filter(datum, store.value(row)):
                    names[row] = store[index].name
        passed += names
        if looks_for_nan(tensor_filter):
            self._told.update(passed)
        elif ours is not None:
            passed = [index for index in passed if not self._is_told(index, ours)]
        return Judged(tuple(passed), names, answered.raised)

    def _trained(self, asked: list[int]) -> list[int]:
        """Those of the tensors `asked` that show variables which gradients update: others may stay as they were."""
        graph, store = self._run.graph, self._run.tensors
        trained = TrainedVariables(graph, eager=self._run.call.kind is RunKind.EAGER)
        shown = ((index, graph.find(store[index].node)) for index in asked)
        return [
            index
            for index, node in shown
            if node is None or trained.may_hold(node.inputs[0].node if node.inputs else node.name)
        ]

    def _unscaled(self, asked: list[int]) -> Iterator[tuple[int, list[int]]]:
        """The gradients with a loss scale, each with the indices of what it is without, if that was computed."""
        store, known = self._run.tensors, unscaled_gradients(self._run.graph)
        for index in asked if known else ():
            without = known.get(store[index].name)
            rows = [] if without is None else list(store.named(without.node, without.slot))
            if rows:
                yield index, rows

    def _is_told(self, index: int, ours: Filter) -> bool:
        """Whether the tensor has passed a rule about NaN for what makes it pass this one."""
        if index not in self._told:
            return False
        store = self._run.tensors
        if ours.among is Among.GRADIENTS and store[index].name in unscaled_gradients(self._run.graph):
            return True  # what overflows by the scale makes it skip the update
        value = store.value(index)
        return not isinstance(value, NoValue) and is_inexact(value.dtype) and bool(nan_mask(value).any())
