"""A function under one kind of watch: which tensors are checked, and the rewritten functions that check them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from tfdbg_cli.capture.chooser import chooser
from tfdbg_cli.capture.controller import Plan, WatchRequest
from tfdbg_cli.capture.failures import remark
from tfdbg_cli.capture.functions.calling.counted_draws import CountedDraws
from tfdbg_cli.capture.functions.calling.instrumented import CallResult, Instrumented
from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.checking.early_reports import Early
from tfdbg_cli.capture.functions.checking.failing_of_nan import may_fail_of_nan
from tfdbg_cli.capture.functions.checking.frontier import FunctionFrontier, frontier_of
from tfdbg_cli.capture.functions.checking.static_facts import StaticFacts
from tfdbg_cli.capture.functions.checking.updated_variables import updated_variables
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.results import results_of
from tfdbg_cli.capture.functions.definition.shown_values import unshown_calls
from tfdbg_cli.capture.functions.exact.proof import Apart, Onto, Proof, proven
from tfdbg_cli.capture.functions.exact.summed_draws import summed_draws
from tfdbg_cli.capture.functions.graph.scopes import named_graphs_below
from tfdbg_cli.capture.functions.optimized.compiled import Compiled
from tfdbg_cli.capture.questions.known import question_of
from tfdbg_cli.capture.questions.question import Question
from tfdbg_cli.capture.runs.function.trials import Added, Trials
from tfdbg_cli.capture.runs.watch_policy import checked
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.capture.state.early_reads import early_reads
from tfdbg_cli.capture.state.snapshot_plan import SnapshotPlan
from tfdbg_cli.capture.tf.types import AtomicFunction, EagerTensor
from tfdbg_cli.collection import count_as_old
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.updates import BEFORE_UPDATE, UPDATED_VARIABLE

_NUMBERS_CHECKED = frozenset({"CheckNumerics", "CheckNumericsV2"})  # by tf.debugging
_UNCHECKED = (
    "Of {function} the watch does not see what happens inside {names}, as in the turns of a loop over a dataset; it "
    "sees what comes out, and the variables that are written there."
)


@dataclass(frozen=True)
class WatchKind:
    """The parts of a plan that decide how a function is checked; runs of one kind share the rewritten functions."""

    question: Question
    exclude_node_names: str
    capture: CaptureRequest
    ignored: frozenset[str] = frozenset()

    def admits(self, node: str, op_type: str, dtype: str) -> bool:
        """Whether tensors of a node of that name are to be looked at."""
        return chooser(self.capture, self.exclude_node_names, self.ignored).admits_named(node, op_type, dtype)


def watch_kind(plan: Plan, function: str, trace: str) -> WatchKind | None:
    """How `plan` has that `trace` of a function checked; None if its filter can only be asked of each value."""
    watched: WatchRequest | None = plan.watched
    question = None if watched is None else question_of(watched.tensor_filter)
    if watched is None or question is None:
        return None
    return WatchKind(question, watched.exclude_node_names, plan.capture, watched.ignored_in(function, trace))


class FunctionChecks:
    """The function of `root` under watch, kept for all its runs.

    It is rewritten in two ways, each made when it is needed: `with_values` and `checked_only`.
    """

    def __init__(
        self,
        root: Scope,
        atomic: AtomicFunction,
        snapshot_plan: SnapshotPlan,
        kind: WatchKind,
        graph: Callable[[], Graph],
        plain: Callable[[Sequence[EagerTensor]], Compiled | None],
        counted: CountedDraws | None = None,
    ) -> None:
        """Watch `root` for `kind`.

        `graph` gives the graph of its runs, variables after their update included, `plain` what the runtime makes of
        the function for some inputs. The random ops in it that are `counted` count for the program.
        """
        self._counted = counted
        self._plain = plain
        self.trials = Trials(snapshot_plan, atomic)
        self.kept_trials = Trials(snapshot_plan, atomic, Added.VALUES)
        self._proof: Proof | None = None
        self._kept: Proof | None = None
        self._beside: FunctionChecks | None = None
        self._plain_graph = graph
        self.root = root
        self.snapshot_plan = snapshot_plan
        self._atomic = atomic
        self._kind = kind

    @property
    def question(self) -> Question:
        """What is asked of its tensors."""
        return self._kind.question

    @cached_property
    def frontier(self) -> FunctionFrontier:
        """The tensors to check. Calls that cannot be looked into are named on standard error, once."""
        kind = self._kind
        unshown = unshown_calls(self.root)
        if unshown:
            remark(_UNCHECKED.format(function=self._atomic.graph.name, names=" and ".join(unshown)))
        facts = StaticFacts(self.root, named_graphs_below(self._atomic))
        results = results_of(self.root)
        return frontier_of(self.root, facts, kind.question, kind.admits, self._plain_graph, results=results)

    def looked_into(self) -> FunctionChecks:
        """Itself, after finding out all that does not depend on what the runtime makes of the function."""
        _ = self.frontier, self.read_early
        return self

    @property
    def told(self) -> str:
        """How its runs are checked, in a sentence."""
        return checked(self.frontier.checked, self.frontier.watched)

    @cached_property
    def graph(self) -> Graph:
        """The graph of its runs; where variables are compared, with them before their update."""
        graph = self._plain_graph()
        if not self.question.compares:
            return graph
        before = [
            Node(variable.before.node, BEFORE_UPDATE, "", variable.inputs[:1])
            for variable in updated_variables(self.root)
        ]
        return Graph([*graph, *before], graph.kind)

    def with_values(self, inputs: Sequence[EagerTensor]) -> Proof:
        """The function with checks that also returns all its values, and how far it is proven for `inputs`."""
        if self._kept is None:
            early = Early(self.snapshot_plan.sources)
            copied = summed_draws(self._plain(inputs), self.snapshot_plan.sources)
            self._kept = self._proven(
                WantedRewrite(self._kind.question, self.frontier, early=early, copied=copied), inputs
            )
        return self._kept

    def checked_only(self, inputs: Sequence[EagerTensor]) -> Proof:
        """The function with checks that also returns what it takes to make a run again; proven for `inputs`."""
        if self._proof is None:
            given = frozenset([*self.snapshot_plan.sources, *self.read_early.values()])
            early = Early(self.snapshot_plan.sources)
            copied = summed_draws(self._plain(inputs), self.snapshot_plan.sources)
            wanted = WantedRewrite(
                self._kind.question, self.frontier, values=False, given=given, early=early, copied=copied
            )
            self._proof = self._proven(wanted, inputs)
            count_as_old()
        return self._proof

    def of_copies(self, inputs: Sequence[EagerTensor]) -> Proof:
        """As `checked_only`, to be called beside the program's own call, whose random ops it is to leave alone."""
        if self._counted is None:
            return self.checked_only(inputs)
        if self._beside is None:
            self._beside = FunctionChecks(
                self.root, self._atomic, self.snapshot_plan, self._kind, self._plain_graph, self._plain
            )
        return self._beside.checked_only(inputs)

    def _proven(self, wanted: WantedRewrite, inputs: Sequence[EagerTensor]) -> Proof:
        def make(apart: Apart, onto: Onto, *, at_any_cost: bool = False) -> Instrumented:
            exact = replace(wanted, apart=apart, with_nan=self._is_final)
            return Instrumented(
                self.root, self._atomic, wanted=exact, onto=onto, at_any_cost=at_any_cost, counted=self._counted
            )

        return proven(
            self.root,
            self._plain(inputs),
            inputs,
            make,
            with_nan=self._is_final,
            at_any_cost=partial(make, at_any_cost=True),
        )

    @cached_property
    def _is_final(self) -> bool:
        """Whether a call with checks in which NaN comes up cannot be made plainly, too, so that its result counts.

        Where it fails the variables that it reads early are not held, and may be updated already.
        """
        return bool(self.trials.reason) or (bool(self.read_early) and may_fail_of_nan(self.root))

    @property
    def on_copies(self) -> bool:
        """Whether the checks may change the program's own ops, so that a copy of each call is checked instead."""
        unproven = self._proof is not None and not self._proof.holds
        return (unproven or self.trials.differs) and self.trials.has_copies

    @cached_property
    def read_early(self) -> dict[int, TensorName]:
        """By position of the variable, the tensor by which the function itself reads it before its updates.

        A checked call returns these tensors, so they need not be read before it. Small variables, such as a count of
        steps, are left out and read before the call: a call that fails returns nothing, and they are updated early.
        Where the program itself has numbers checked, a bad one makes the call fail, and all are read before it.
        """
        plan = self.snapshot_plan
        found = {} if plan.reason or _checks_numbers(self.root) else early_reads(self.root, plan.written)
        return {at: name for at, name in found.items() if not plan.is_small(at)}

    def after(self, held: CallSnapshot, outcome: CallResult) -> None:
        """Give `held` what the call gave back for it."""
        values = {shown.name: tensor for shown, tensor in outcome.captured.pairs()}
        sources = {name: values[name] for name in self.snapshot_plan.sources if name in values}
        held.after(
            {**outcome.early, **sources},
            {at: values[name] for at, name in self.read_early.items() if name in values},
        )


def _checks_numbers(root: Scope) -> bool:
    """Whether an op of the function, or of one below it, fails of NaN or infinity."""
    return any(node.op in _NUMBERS_CHECKED for scope in root.all() for node in scope.needed.nodes)


def with_updated(graph: Graph, root: Scope) -> Graph:
    """`graph` with a node for each variable that a run of `root` writes, behind what writes it."""
    updated = {variable.name.node: variable for variable in updated_variables(root)}
    nodes = [
        Node(name, UPDATED_VARIABLE, variable.device, variable.inputs, variable.hidden_in)
        for name, variable in updated.items()
    ]
    return Graph([*graph, *nodes], graph.kind) if nodes else graph
