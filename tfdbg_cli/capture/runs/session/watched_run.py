"""A watched run of a session: checked by ops in the graph, its values kept or, after a hit, made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from tfdbg_cli.capture.chooser import chooser
from tfdbg_cli.capture.controller import Plan, WatchRequest
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.large_graphs import RUN, Preparation, announce
from tfdbg_cli.capture.replay.replayed import Replayed
from tfdbg_cli.capture.runs.session.checking import Checking
from tfdbg_cli.capture.runs.session.in_memory import InMemory
from tfdbg_cli.capture.runs.session.in_place import with_after
from tfdbg_cli.capture.runs.session.insides_again import NO_WAY, NOT_KEPT, WithInsides, insides_of_hit
from tfdbg_cli.capture.runs.session.stash import stash_of, take_from
from tfdbg_cli.capture.runs.session.trial_run import TrialRun
from tfdbg_cli.capture.runs.session.ways import estimate_of
from tfdbg_cli.capture.runs.watch_policy import (
    Course,
    checked,
    fits,
    is_hit,
    passes,
    policy,
    replayed_hit,
)
from tfdbg_cli.capture.sessions.call_state import UsedVariable
from tfdbg_cli.capture.sessions.extended.call_checks import CallChecks
from tfdbg_cli.capture.sessions.fetched_tensors import stored
from tfdbg_cli.capture.sessions.fusing import FUSED, is_by_product, is_refusal
from tfdbg_cli.capture.sessions.hidden_ops import PREFIX
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.state.run_snapshot import RunSnapshot, read
from tfdbg_cli.capture.stores import asked_for
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.types import FetchedValue, Op, RunResult, SymbolicTensor
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, TensorStore
from tfdbg_cli.model.values import Array, NoValue, Value
from tfdbg_cli.process.interruptions import our_errors

_UNHELD = "The state before the run could not be read ({error}), so its values were kept instead."
_LOST = (
    "The run failed, and TensorFlow gives back no values of such a run; nor can it be made again ({}). "
    "`run -f … --graph runtime` keeps what was computed before an error."
)
_LEFT = "TensorFlow did not take the checks of this run, so it was not checked: {error}"


class WatchedRun(InMemory):
    """One run under watch (`interceptable.Capture`, `interceptable.SelfChecking`)."""

    def __init__(
        self, invocation: Invocation, plan: Plan, watched: WatchRequest, call: CallChecks, settings: Settings
    ) -> None:
        """Decide how the values come to be there if the run is a hit: kept, or by making the run again."""
        super().__init__(invocation, plan)
        self._watched = watched
        self._call = call
        self._chooser = chooser(plan.capture)
        self._needed = partial(estimate_of, invocation, plan.capture, GraphKind.PYTHON, settings, None)
        chosen = policy(watched.values, call.state.obstacle, self._needed)
        self._keeps = chosen.course is Course.KEEP
        self._lacks = chosen.notes[-1] if chosen.course is Course.WITHOUT else ""
        self._notes = (checked(call.checked, call.total), *call.shadow_ops.notes, *chosen.notes)
        self._held: RunSnapshot | None = None
        self._checking = Checking(invocation, call)
        self._trial = TrialRun(invocation, call, watched, plan.capture, kept=self._keeps)
        self._kept: Sequence[FetchedValue] | None = None
        self._updated: Sequence[FetchedValue] = ()
        self._before: Mapping[UsedVariable, Array] = {}
        self._aside: Sequence[Op] = ()

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        self._hold()
        trial = self._trial
        stash = (
            None
            if self._held is None
            else stash_of(self.invocation.session, self._call.state, self._call.shadow_ops.ops)
        )
        self._aside = () if stash is None else stash.targets
        if self._held is not None:
            trial.begin(self._held)
        try:
            try:
                return self._performed(trial)
            except OpError as error:
                if not (self._keeps and is_refusal(error)):
                    raise
                self._shown = [tensor for tensor in self._shown if not is_by_product(tensor)]
                self._notes = (*self._notes, FUSED)
                return self._performed(trial)
        except OpError as error:
            if not _is_ours(error):
                if stash is not None and self._held is not None:
                    take_from(stash, self._held)
                raise
            # TensorFlow places all ops before it runs any, so nothing has been done that would be done twice.
            trial.left()
            report("check a run", TfdbgError(_LEFT.format(error=error.message)))
            self._notes = (_LEFT.format(error=error.message),)
            return self.invocation.plain()

    def _performed(self, trial: TrialRun) -> RunResult:
        call = self._call
        parts = [
            [] if self._held is None else self._held.sources,
            self._fetchable() if self._keeps else [],
            call.updated if self._keeps else [],
            trial.fetches,
        ]
        self._checking = Checking(self.invocation, call)
        trial.beside = parts[1]
        extra = [tensor for part in parts for tensor in part]
        result, values = self._checking.perform(extra, trial.graphs, self._aside)
        sources, kept, self._updated, fetched = _cut(values, [len(part) for part in parts])
        if self._held is not None:
            self._held.drew(sources)
        self._kept = kept if self._keeps else None
        return trial.settled(result, fetched, self._held, self._checking.found)

    def _hold(self) -> None:
        """Hold the state before the run, where it is wanted and can be read."""
        state = self._call.state
        try:
            if self._keeps and self._call.before:
                # Fetches of these share the memory of a variable, which the run overwrites.
                self._before = read(self.invocation.session, list(dict.fromkeys(self._call.before.values())))
            if state.obstacle:
                return
            self._held = RunSnapshot(self.invocation, self._call.state)
        except OpError as error:  # a variable that this run is going to initialize
            if not self._keeps:
                self._notes = (*self._notes, _UNHELD.format(error=type(error).__name__))
            self._keeps = True
        except our_errors() as error:  # the run is checked all the same
            report("hold what a run can be made again from", error)
            self._keeps = True

    @cached_property
    def _shown(self) -> list[SymbolicTensor]:
        return list(filter(self._chooser.admits, self._call.reached.tensors))

    def _fetchable(self) -> list[SymbolicTensor]:
        return [tensor for tensor in self._shown if tensor.name not in self._call.reached.opaque]

    @property
    def passed(self) -> bool:
        """Whether all tensors were checked, and nothing was found."""
        return self._checking.done and not self._checking.found

    @property
    def exactness(self) -> Exactness:
        """How exact runs of this kind are."""
        return self._trial.exactness

    def run(self, call: Call, error: RunError | None) -> Run:
        """The run with its values: those that were kept, or those of the run made once more."""
        bare = self.bare(call, error, self._held, (*self._notes, *self._trial.notes))
        bare = replace(bare, exactness=self._trial.exactness)
        if self._kept is not None:
            kept = self._with_insides(bare, self._store(self._kept))
            notes = (*bare.notes, *kept.notes)
            self._run = replace(bare, tensors=kept.tensors, notes=notes, inside_lacks=kept.lacks)
        elif self._held is not None:
            self._run = self._made_again(bare, self._held)
        else:
            self._run = replace(bare, lacks=self._lacks if error is None else self._lacks or self._lost)
        caught = is_hit(self._run.tensors, found=self._checking.found, sure=self._checking.sure)
        self._run = replace(self._run, caught=caught)
        return self._run

    @property
    def _lost(self) -> str:
        """Why a run that was to return its values itself, and failed, has none."""
        return _LOST.format(self._call.state.obstacle or "what it started from could not be read")

    def _store(self, kept: Sequence[FetchedValue]) -> TensorStore:
        store = stored(self._shown, self._call.reached.opaque, kept)
        tensors = [store[at] for at in range(len(store))]
        values = [self._as_read(tensor, store.value(at)) for at, tensor in enumerate(tensors)]
        return with_after(MemoryTensorStore(tensors, values), self._call.state.written, self._updated)

    def _as_read(self, tensor: Tensor, value: Value) -> Value:
        """`value` of `tensor`, or what it was before the run overwrote it."""
        before = (
            self._before.get(self._call.before[str(tensor.name)]) if str(tensor.name) in self._call.before else None
        )
        return value if before is None or isinstance(value, NoValue) else before.reshape(value.shape)

    def _with_insides(self, bare: Run, kept: TensorStore) -> WithInsides:
        """The values `kept`; of a hit with what the functions that it calls computed, unless the user is against it.

        The runs before a hit are kept without that: nobody can tell beforehand which of them will be looked at.
        """
        if not self._call.calls:
            return WithInsides(kept)
        held, obstacle = self._held, self._call.state.obstacle
        if held is not None and self._watched.all_runs and self._checking.found and fits(self._needed()):
            announce(RUN, len(bare.graph), Preparation.VALUES)
            return insides_of_hit(kept, lambda: self._asked_for(held.replayed()), partial(self._finds, bare))
        why = NO_WAY.format(obstacle) if obstacle else NOT_KEPT
        return WithInsides(kept, (why,), why)

    def _made_again(self, bare: Run, held: RunSnapshot) -> Run:
        announce(RUN, len(bare.graph), Preparation.VALUES)
        finds = partial(self._finds, bare)
        replayed = replayed_hit(held.replayed, finds, self._needed, sure=self._checking.sure)
        return replace(self._asked_for(replayed).of(bare), error=bare.error)

    def _finds(self, bare: Run, again: Replayed) -> bool:
        return passes(replace(bare, tensors=again.tensors), self._watched.tensor_filter)

    def _asked_for(self, replayed: Replayed) -> Replayed:
        return replace(replayed, tensors=asked_for(replayed.tensors, self.plan.capture))


def _is_ours(error: OpError) -> bool:
    """Whether TensorFlow found no place for one of our checks."""
    text = str(error.message)
    return PREFIX in text and ("Cannot assign a device" in text or "No OpKernel" in text)


def _cut(values: Sequence[FetchedValue], lengths: Sequence[int]) -> list[Sequence[FetchedValue]]:
    parts = []
    for length in lengths:
        parts.append(values[:length])
        values = values[length:]
    return parts
