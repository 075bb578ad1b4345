"""What tfdbg found out about a graph function, once for all its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from tfdbg_cli.analysis.graph.nodes.roles import roles_of
from tfdbg_cli.capture.budget import memory_budget
from tfdbg_cli.capture.estimate import needed
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.functions.calling.counted_draws import CountedDraws
from tfdbg_cli.capture.functions.calling.instrumented import Instrumented
from tfdbg_cli.capture.functions.calling.kernel_draws import kernel_draws
from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.checking.early_reports import Early
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.results import results_of, values_returned
from tfdbg_cli.capture.functions.exact.proof import Apart, Onto, Proof, proven
from tfdbg_cli.capture.functions.exact.summed_draws import summed_draws
from tfdbg_cli.capture.functions.graph.forward_function import ForwardFunction
from tfdbg_cli.capture.functions.graph.function_graph import function_graph, function_tracebacks
from tfdbg_cli.capture.functions.graph.scopes import forward_of, named_graphs_below, scope_of
from tfdbg_cli.capture.functions.optimized.compiled import Compiled, compiled, compiled_copy
from tfdbg_cli.capture.functions.signature.arguments import Slot, slots_of
from tfdbg_cli.capture.functions.signature.result_names import Results, results_among
from tfdbg_cli.capture.large_graphs import Preparation, announce
from tfdbg_cli.capture.runs.function.function_checks import FunctionChecks, WatchKind, with_updated
from tfdbg_cli.capture.runs.function.trials import Added, Trials
from tfdbg_cli.capture.state.snapshot_plan import SnapshotPlan
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.op_definitions import loaded_name
from tfdbg_cli.capture.tf.second_thread import SecondThread
from tfdbg_cli.capture.tf.trace_types import for_program
from tfdbg_cli.capture.tf.types import AtomicFunction, ConcreteFunction, EagerTensor, SymbolicTensor, TfFunction
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.graph import Graph, GraphKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Estimate
from tfdbg_cli.model.sources import Traceback
from tfdbg_cli.process.interruptions import our_errors

T = TypeVar("T")

_BACKWARD = "__backward_"
_KINDS = 4
_LOADED = "restored_function_body"  # what TensorFlow calls every function that was loaded from a SavedModel


class TracedFunction:
    """All that captures and watches need to know of a graph function; each part is found when it is asked for."""

    def __init__(self, atomic: AtomicFunction) -> None:
        self._atomic = atomic
        self.taken: int | None = None  # bytes that the values of the last captured call took
        self._counted: dict[Callable[[SymbolicTensor], bool], int] = {}  # how many tensors a user's filter admits
        self._watched: dict[WatchKind, FunctionChecks] = {}
        self._plain: tuple[Compiled | None] | None = None
        self._never_called = False  # as far as the runtime told when it was asked for `plain`
        self._drawing: Proof | None = None
        self._counting: Proof | None = None

    @property
    def atomic(self) -> AtomicFunction:
        """The function itself."""
        return self._atomic

    @cached_property
    def _concrete(self) -> ConcreteFunction:
        return compat.concrete_of(self._atomic)

    @cached_property
    def root(self) -> Scope:
        """The function with all that it calls, by the names in its runs."""
        return scope_of(self._concrete)

    @cached_property
    def name(self) -> str:
        """The name of the Python function; of a gradient, `gradient of` and the name."""
        name, before = str(self._atomic.graph.name), ""
        while name.startswith(_BACKWARD):
            name, before = name.removeprefix(_BACKWARD).rpartition("_")[0], f"gradient of {before}"
        return f"{before}{name}"

    def name_in(self, function: TfFunction | None) -> str:
        """The name in a run that came of a call of the tf.function `function`; None if the program called none."""
        return loaded_name(function) or self.name if self.name == _LOADED else self.name

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The inputs, under the names of the nodes that stand for them in a run."""
        slots = zip(slots_of(self._atomic.graph), self.root.argument_names, strict=True)
        return tuple(replace(slot, argument=replace(slot.argument, name=name)) for slot, name in slots)

    @cached_property
    def forward(self) -> ForwardFunction | None:
        """The function of whose call it computes the gradient; None where it does not, or that is not known."""
        return forward_of(self._atomic)

    def is_argument(self, slot: Slot) -> bool:
        """Whether each call gives this input anew: the program does, or the forward function of this gradient."""
        handed = {} if self.forward is None else self.forward.handed
        return not slot.argument.captured or slot.argument.name in handed

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the nodes that stand for the inputs."""
        return tuple(self.root.argument_names)

    @cached_property
    def returned(self) -> tuple[TensorName, ...]:
        """The tensors that are given back, followed to where they are made."""
        return tuple(map(self.root.resolve, self.root.body.returns))

    @cached_property
    def results(self) -> tuple[TensorName, ...]:
        """The same tensors, with what is packed into an Optional in the place of the Optional."""
        return results_of(self.root)

    @cached_property
    def _programs(self) -> Results:
        """Those of `results` that are for the program."""
        try:
            return results_among(for_program(self._atomic), values_returned(self.root))
        except our_errors() as error:  # a type of the program's own may do as it likes
            report("tell what the results of a function are called", error)
            return Results(self.results, {})

    @property
    def for_gradient(self) -> int:
        """How many of `results`, at the end, are for its gradient alone, and not for the program."""
        return len(self.results) - len(self._programs.tensors)

    @cached_property
    def result_names(self) -> tuple[str, ...]:
        """What the program calls each of `results`; empty where none has a name."""
        names = self._programs.names
        return tuple(names.get(name, "") for name in self.results) if any(names.values()) else ()

    @cached_property
    def graph(self) -> Graph:
        """The program's graph, nested functions included."""
        return function_graph(self._concrete)

    @cached_property
    def watched_graph(self) -> Graph:
        """That graph with the variables after their update; one object for all runs, by which much is cached."""
        return with_updated(self.graph, self.root)

    def expect_screen(self) -> None:
        """Find out before the run what the first screen after it needs to know of the graph: then a user waits."""
        roles_of(self.watched_graph)

    @cached_property
    def tracebacks(self) -> Mapping[str, Traceback]:
        """Where the nodes of the graph were made."""
        return function_tracebacks(self._concrete, lambda: self.graph)

    @cached_property
    def instrumented(self) -> Instrumented:
        """The function rewritten so that it gives back every value."""
        wanted = WantedRewrite(early=Early(self.snapshot_plan.sources))
        return Instrumented(self.root, self._atomic, wanted=wanted, counted=self.counted)

    @cached_property
    def instrumented_with_updated(self) -> Instrumented:
        """The same, also with the variables after their update."""
        wanted = replace(WantedRewrite.all_values(self.root), early=Early(self.snapshot_plan.sources))
        return Instrumented(self.root, self._atomic, wanted=wanted, counted=self.counted)

    @cached_property
    def draws_in_kernels(self) -> bool:
        """Whether random ops in it count inside their kernels: then all calls must be made by the same function."""
        return bool(kernel_draws(self.root))

    @cached_property
    def counted(self) -> CountedDraws | None:
        """How these count in one place for all functions that are rewritten of it; None where there are none."""
        return CountedDraws(self.name, self.root, lambda: self._never_called) if self.draws_in_kernels else None

    def replay_obstacle(self, room: int) -> str:
        """Why the values of a call must be taken while it happens; empty if it can be made again for them."""
        plan = self.snapshot_plan
        exchange = "" if plan.outside is None else plan.outside.exchange
        return plan.obstacle(room) or (f"{exchange} exchanges values between replicas" if exchange else "")

    def drawing_of_all(self, inputs: Sequence[EagerTensor], room: int) -> Instrumented | None:
        """What makes all calls of the function where some of them are recorded, so that all draw from one state.

        It gives back what they draw; every value, where a recorded call cannot be made again in `room` bytes. None
        where no random op counts inside its kernel, but for those that are `counted`.
        """
        if self.counted is None or not self.counted.uncounted:
            return None
        return self.instrumented_with_updated if self.replay_obstacle(room) else self.drawing(inputs).instrumented

    def counting(self, inputs: Sequence[EagerTensor]) -> Instrumented | None:
        """What makes a call of which nothing is taken, but that its random ops are `counted`.

        None where not all are that count inside their kernels, or where it is not proven to be the same for the rest.
        """
        if self.counted is None or self.counted.uncounted:
            return None
        if self._counting is None:
            self._counting = self._proven_giving(WantedRewrite(values=False), inputs)
        found = self._counting.comparison
        return self._counting.instrumented if found is not None and found.same else None

    def drawing(self, inputs: Sequence[EagerTensor]) -> Proof:
        """The function rewritten to give back only what its ops draw from outside; proven for `inputs`.

        Where to report the draws early changes what TensorFlow makes of it, those of a call that fails are not known.
        """
        if self._drawing is None:
            found = self._found_drawing(inputs)
            if found.comparison is not None and not found.comparison.same:
                # Now and then the runtime tells of a plain function that it did not optimize, and runs another one.
                self._plain = None
                again = self._found_drawing(inputs)
                found = again if again.comparison is not None and again.comparison.same else found
            self._drawing = found
        return self._drawing

    def _found_drawing(self, inputs: Sequence[EagerTensor]) -> Proof:
        early = self._proven_drawing(Early(self.snapshot_plan.sources), inputs)
        differs = early.comparison is not None and not early.comparison.same
        late = self._proven_drawing(Early(), inputs) if differs else early
        return late if late.comparison is not None and late.comparison.same else early

    def _proven_drawing(self, early: Early, inputs: Sequence[EagerTensor]) -> Proof:
        sources = self.snapshot_plan.sources
        copied = summed_draws(self.plain(inputs), sources)
        wanted = WantedRewrite(values=False, given=sources, early=early, copied=copied)
        return self._proven_giving(wanted, inputs)

    def _proven_giving(self, wanted: WantedRewrite, inputs: Sequence[EagerTensor]) -> Proof:
        def make(_: Apart, onto: Onto) -> Instrumented:
            return Instrumented(self.root, self._atomic, wanted=wanted, onto=onto, counted=self.counted)

        return proven(self.root, self.plain(inputs), inputs, make)

    @cached_property
    def trials(self) -> Trials:
        """The trials: calls of the function that are also made plainly, from the same state."""
        return Trials(self.snapshot_plan, self._atomic, Added.DRAWS)

    def plain(self, inputs: Sequence[EagerTensor]) -> Compiled | None:
        """What the runtime makes of the plain function for `inputs`, found once; None where it does not tell."""
        if self._plain is None and self.draws_in_kernels:
            self.ask_plain(inputs)
        if self._plain is None:
            self._plain = (compiled_copy(self._atomic.name.decode(), inputs),)
        return self._plain[0]

    def is_never_called(self, inputs: Sequence[EagerTensor]) -> bool:
        """Whether the function was not called when this was asked for the first time."""
        self.plain(inputs)
        return self._never_called

    def ask_plain(self, inputs: Sequence[EagerTensor]) -> None:
        """Find out `plain` now if the function was never called: then the runtime has to compile it anyway."""
        if self._plain is None:
            found = compiled(self._atomic.name.decode(), inputs)
            self._plain = None if found is None else (found,)
            self._never_called = self._never_called or found is not None

    def plain_beside(self, inputs: Sequence[EagerTensor], work: Callable[[], T]) -> T:
        """The result of `work`, which runs in a second thread while `plain` is found for `inputs`, if it must be."""
        if self._plain is not None:
            return work()
        beside = SecondThread(work)
        try:
            self.plain(inputs)
        finally:
            beside.wait()
        return beside.result()

    @cached_property
    def snapshot_plan(self) -> SnapshotPlan:
        """How snapshots of its calls are taken, so that they can be made again or undone."""
        return SnapshotPlan(self.root, self.slots, self._atomic, lambda: self._plain and self._plain[0])

    def watched(self, kind: WatchKind) -> FunctionChecks:
        """The function under the watch `kind`; those of the last kinds are kept."""
        found = self._watched.pop(kind, None) or self._watch(kind)
        self._watched[kind] = found
        while len(self._watched) > _KINDS:
            self._watched.pop(next(iter(self._watched)))
        return found

    def announce(self, preparation: Preparation) -> None:
        """Say that it is being prepared, if it is so large that this takes seconds."""
        announce(self.name, sum(len(scope.body.nodes) for scope in self.root.all()), preparation)

    def _watch(self, kind: WatchKind) -> FunctionChecks:
        self.announce(Preparation.CHECKS)
        return FunctionChecks(
            self.root, self._atomic, self.snapshot_plan, kind, lambda: self.watched_graph, self.plain, self.counted
        )

    def estimate(
        self, admits: Callable[[SymbolicTensor], bool], inputs: Sequence[EagerTensor], settings: Settings
    ) -> Estimate:
        """What the values of a call with `inputs` take: as in the last captured call, else by the static shapes.

        Turns of loops count once before the first captured call.
        """
        if self.taken is not None and admits in self._counted:
            return Estimate(self._counted[admits], self.taken, 0, memory_budget(settings), "memory")
        tensors = list(filter(admits, self._tensors()))
        self._counted[admits] = len(tensors)
        given = [(slot.argument.name, tensor.shape) for slot, tensor in zip(self.slots, inputs, strict=False)]
        shapes = {f"{name}:0": tuple(shape) for name, shape in given if shape.rank is not None}
        found = needed(tensors, shapes).estimate(GraphKind.PYTHON, settings, None)
        if self.taken is None:
            return found
        return Estimate(found.tensors, self.taken, 0, found.budget, found.medium)

    def _tensors(self) -> Iterator[SymbolicTensor]:
        for graph in named_graphs_below(self._atomic).values():
            for op in graph.get_operations():
                yield from op.outputs


_TRACED = Memo(TracedFunction)


def traced_function(atomic: AtomicFunction) -> TracedFunction:
    """What was found out about `atomic`, kept with it and gone with it."""
    return _TRACED.of(atomic)
