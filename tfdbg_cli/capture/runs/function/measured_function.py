"""A function with the ops that compute statistics of its tensors, and that gives back the values of a selection."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from tfdbg_cli.analysis.layers.node_selection import NodeSelection
from tfdbg_cli.capture.budget import memory_budget
from tfdbg_cli.capture.functions.calling.instrumented import CallResult, Instrumented
from tfdbg_cli.capture.functions.calling.kept_tensors import KeptTensors, alias
from tfdbg_cli.capture.functions.calling.recomputed import LazyTensor
from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.checking.early_reports import Early
from tfdbg_cli.capture.functions.checking.static_facts import StaticFacts
from tfdbg_cli.capture.functions.definition.call_tree import ARGUMENT
from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.functions.exact.proof import Apart, Onto, Proof, proven
from tfdbg_cli.capture.functions.exact.summed_draws import summed_draws
from tfdbg_cli.capture.functions.graph.scopes import named_graphs_below
from tfdbg_cli.capture.functions.measuring.inferred_graphs import undeclared
from tfdbg_cli.capture.functions.measuring.measured import MeasurePlan
from tfdbg_cli.capture.functions.measuring.measured_tensors import StatisticsLayout
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.runs.function.trials import Added, Trials
from tfdbg_cli.capture.tf.memo import Memos
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.runs import Estimate

_SELECTIONS = 4  # of which a function is kept prepared
_FROM_VALUES = (
    "Ops that compute statistics beside those of this function may change what TensorFlow makes of it, so they were "
    "computed of its values."
)
_BEYOND = (
    "Values were asked for that are computed in a branch or a loop ({}), which gives them to nobody else, so all "
    "values were captured, and the statistics computed of them."
)


class MeasuredFunction:
    """A function with the ops that compute statistics, and the values of what is `selected`, for all its calls."""

    def __init__(self, traced: TracedFunction, selected: NodeSelection) -> None:
        self._traced = traced
        self._chosen = selected.tester(traced.watched_graph)
        graphs = undeclared(named_graphs_below(traced.atomic), traced.root.body.name)
        self._facts = StaticFacts(traced.root, graphs)
        self._beyond = MeasurePlan(traced.root, self._facts, self._chosen).beyond
        self.trials = Trials(traced.snapshot_plan, traced.atomic, Added.STATISTICS)
        self._proof: Proof | None = None
        self._proving = threading.Lock()
        self._taken: int | None = None  # bytes that the values of the last call took

    def proof(self, inputs: Sequence[EagerTensor]) -> Proof:
        """The rewritten function, proven for `inputs` at its first call."""
        if self._proof is None:
            with self._proving:  # the program may call it in several threads
                self._proof = self._proof or self._proven(inputs)
        return self._proof

    def _proven(self, inputs: Sequence[EagerTensor]) -> Proof:
        traced = self._traced
        sources = traced.snapshot_plan.sources
        copied = summed_draws(traced.plain(inputs), sources)
        own = WantedRewrite(values=False, given=frozenset(sources), early=Early(sources), copied=copied)
        plans: dict[Instrumented, MeasurePlan] = {}

        def make(apart: Apart, onto: Onto, left_out: Apart = frozenset()) -> Instrumented:
            plan = MeasurePlan(traced.root, self._facts, self._chosen, apart, left_out)
            wanted = plan.wanted(own)
            made = Instrumented(traced.root, traced.atomic, wanted=wanted, onto=onto, counted=traced.counted)
            plans[made] = plan
            return made

        def leaving_out(unread: Apart, onto: Onto) -> Instrumented:
            return make(frozenset(), onto, unread)

        proof = proven(traced.root, traced.plain(inputs), inputs, make, leaving_out=leaving_out)
        plan = plans[proof.instrumented]
        self._layout, self._gaps, self._variables = plan.layout, plan.gaps, plan.variables
        return proof

    def obstacle(self, inputs: Sequence[EagerTensor]) -> str:
        """Why it does not make the calls; empty if the program gets its own numbers, and all values are there."""
        if self._beyond:
            return _BEYOND.format(self._beyond[0])
        return "" if self.proof(inputs).holds and not self.trials.differs else _FROM_VALUES

    @property
    def layout(self) -> StatisticsLayout:
        """What the statistics mean that the proven function gives."""
        return self._layout

    @property
    def gaps(self) -> str:
        """A sentence about the tensors without statistics; empty if there are none."""
        return self._gaps

    def estimate(self, settings: Settings) -> Estimate:
        """What the values of a call take: as in the last one, else by the shapes that are known before it."""
        sizes = [self._layout.described[place].nbytes for place in self._layout.given]
        known = sum(size or 0 for size in sizes) if self._taken is None else self._taken
        unknown = sizes.count(None) if self._taken is None else 0
        return Estimate(len(sizes), known, unknown, memory_budget(settings), "memory")

    def values(self, inputs: Sequence[EagerTensor], outcome: CallResult) -> KeptTensors:
        """The selected values of a call with `inputs` that ended in `outcome`, in the order of the layout."""
        return self._values_of([self._layout.tensors[place].shown for place in self._layout.given], inputs, outcome)

    def all_values(self, inputs: Sequence[EagerTensor], outcome: CallResult) -> KeptTensors | None:
        """All tensors of such a call, for a function of which all are selected; None if a value is missing."""
        given = [item.given for item in self._layout.tensors]
        values = self._values_of([item.shown for item in self._layout.tensors], inputs, outcome)
        held = (tensor is not None for _, tensor in values.pairs())
        return values if all(there or not wanted for wanted, there in zip(given, held, strict=True)) else None

    def _values_of(self, asked: Sequence[Shown], inputs: Sequence[EagerTensor], outcome: CallResult) -> KeptTensors:
        found = {shown.name: tensor for shown, tensor in outcome.captured.pairs()}
        arguments = self._traced.root.argument_positions
        variables = {shown.name: self._variables[shown.name] for shown in asked if shown.name in self._variables}
        if variables:
            after = self._traced.snapshot_plan.read(inputs, list(variables.values()))
            found.update(zip(variables, after, strict=True))
        values: list[LazyTensor | None] = [
            alias(inputs[arguments[shown.name]]) if shown.op_type == ARGUMENT else found.get(shown.name)
            for shown in asked
        ]
        kept = KeptTensors(asked, values)
        self._taken = kept.held_bytes
        return kept


_MEASURED: Memos[MeasuredFunction] = Memos(_SELECTIONS)


def measured_function(traced: TracedFunction, selected: NodeSelection) -> MeasuredFunction:
    """`traced` with the ops that compute statistics, kept with it and gone with it."""
    return _MEASURED.of(traced, selected, lambda: MeasuredFunction(traced, selected))
