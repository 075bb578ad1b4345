"""A run of a session that is made as the program made it; what is shown of it comes from its replay on copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.failures import report, report_bug
from tfdbg_cli.capture.interceptable import Capture
from tfdbg_cli.capture.large_graphs import RUN, Preparation, announce
from tfdbg_cli.capture.questions.known import question_of
from tfdbg_cli.capture.replay.replayed import Replayed, not_again
from tfdbg_cli.capture.replay.session import replay_session
from tfdbg_cli.capture.runs.session.graph_choice import PYTHON
from tfdbg_cli.capture.runs.session.in_memory import InMemory
from tfdbg_cli.capture.runs.session.stash import stash_of, take_from
from tfdbg_cli.capture.sessions.call_names import fed, fetched
from tfdbg_cli.capture.sessions.call_state import CallState
from tfdbg_cli.capture.sessions.exact.pinning import pinned
from tfdbg_cli.capture.sessions.exact.run_effect import RunEffect, outcome_in
from tfdbg_cli.capture.sessions.extended.call_checks import call_kind, reached_by, state_of
from tfdbg_cli.capture.sessions.fetched_tensors import fetched_array
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.reach import KINDS
from tfdbg_cli.capture.sessions.references import sharing
from tfdbg_cli.capture.state.before_updates import with_before
from tfdbg_cli.capture.state.run_snapshot import RunSnapshot
from tfdbg_cli.capture.stores import asked_for
from tfdbg_cli.capture.tf.memo import Memos
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.types import FetchedValue, RunResult, SymbolicTensor
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.exactness import Exactness, ExecutionWay, same_bits
from tfdbg_cli.model.replay import ReplaySpec
from tfdbg_cli.model.runs import Run
from tfdbg_cli.process.interruptions import our_errors

UNREAD = "the state before it could not be read ({error})"


_SHARED: Memos[Mapping[str, str]] = Memos(keep=KINDS)


def _shared(invocation: Invocation, state: CallState) -> Mapping[str, str]:
    """What `sharing` gives, found out once for calls of one kind."""

    def found_out() -> Mapping[str, str]:
        return sharing(reached_by(invocation).order, state, frozenset(fed(invocation.feeds)))

    return _SHARED.of(invocation.session.graph, call_kind(invocation), found_out)


class UnchangedCapture(InMemory):
    """One run that is made as the program made it (`interceptable.Capture`).

    Only what ops draw from outside, such as a batch or random numbers, is fetched besides.
    """

    def __init__(
        self, invocation: Invocation, plan: Plan, in_place: Callable[[str], Capture], notes: tuple[str, ...] = ()
    ) -> None:
        """Prepare the capture of `invocation`, which can be made again.

        If no snapshot can be taken, `in_place(reason)` makes the capture to use instead.
        """
        super().__init__(invocation, plan)
        self._in_place = in_place
        self._notes = notes
        self.state = state_of(invocation)
        self.instead: Capture | None = None
        self.held: RunSnapshot | None = None
        self.outcome = RunEffect()

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        try:
            self.held = RunSnapshot(self.invocation, self.state)
        except our_errors() as error:  # a variable that this run is going to initialize, most of the time
            if not isinstance(error, OpError):
                report("hold what a run can be made again from", error)
            self.instead = self._in_place(UNREAD.format(error=type(error).__name__))
            return self.instead.perform()
        held, stash = self.held, stash_of(self.invocation.session, self.state)
        try:
            result, drawn, given = self.invocation.recorded(held.sources, () if stash is None else stash.targets)
        except OpError:
            if stash is not None:
                take_from(stash, held)
            raise
        try:
            held.drew(drawn)
            self.outcome = self._seen(given, held)
        except our_errors() as error:  # the run was made; what it gave is the program's
            report("look at what a run left", error)
        return result

    def run(self, call: Call, error: RunError | None) -> Run:
        """The run with the values of the same run made again."""
        if self.instead is not None or self.held is None:
            assert self.instead is not None
            return self.instead.run(call, error)
        bare = self.bare(call, error, self.held, (PYTHON, *self._notes))
        announce(RUN, len(bare.graph), Preparation.VALUES)
        try:
            replayed, exactness = self.made_again(self.held, error)
        except our_errors() as failure:  # the run is worth showing without values, too
            if self.plan.watching:
                # Why a run that failed cannot be made again stands in the run, if anybody looks at it.
                (report if error is None else report_bug)("make a watched run again", failure)
            replayed = not_again(failure)
            exactness = Exactness(ExecutionWay.UNCHANGED)
        exactness = replace(exactness, race=self.state.unordered)
        replayed = replace(replayed, tensors=asked_for(replayed.tensors, self.plan.capture))
        self._run = replace(replayed.of(bare), error=bare.error, exactness=exactness)
        if self._compares:
            self._run = with_before(self._run, {one.name: value for one, value in self.held.before.items()})
        return self._run

    @property
    def _compares(self) -> bool:
        """Whether the watch asks what variables were before the run."""
        question = None if self.plan.watched is None else question_of(self.plan.watched.tensor_filter)
        return question is not None and question.compares

    def _seen(self, given: Mapping[str, FetchedValue], held: RunSnapshot) -> RunEffect:
        """The outcome of the run: the values `given` to the program, and the variables as they are now."""
        after = held.after()
        drawn = {tensor.name for tensor in held.sources} - {one.name for one in self._elements}
        values = {name: fetched_array(value) for name, value in given.items() if name not in drawn}
        shared = _shared(self.invocation, self.state)
        # A fetch that shares the memory of a variable shows the value after the run, not what the op gave: left out.
        late = {
            name for name, variable in shared.items() if name in values and same_bits(values[name], after[variable])
        }
        return RunEffect({name: value for name, value in values.items() if name not in late}, after)

    @property
    def _elements(self) -> Sequence[SymbolicTensor]:
        return fetched(self.invocation.session.graph, self.invocation.fetches).tensors

    def made_again(self, held: RunSnapshot, error: RunError | None) -> tuple[Replayed, Exactness]:
        """The replay of the run that comes nearest to it, as far as can be told, and how exact it is."""
        found: list[tuple[Replayed, Exactness]] = []
        for attempt in self.attempts(held):
            replayed = replay_session(attempt, copy=held.copy_for(attempt))
            if error is not None:
                return replayed, Exactness(ExecutionWay.UNCHANGED)
            differs = self.outcome.parted_from(outcome_in(replayed.tensors, self.outcome))
            found.append((replayed, Exactness(ExecutionWay.UNCHANGED, self.outcome.count, differs)))
            if not differs:
                return found[-1]
        return found[0]

    def attempts(self, held: RunSnapshot) -> Iterator[ReplaySpec]:
        """What to replay, in turn: first the run as it is; if its order is left to chance, then in likely orders."""
        replay_spec = held.replay_spec()
        yield replay_spec
        if self.state.unordered:
            yield from pinned(replay_spec, self.invocation, self.state, self.outcome)

    def finish(self, keep: bool) -> None:
        """Write the values to disk if they are to be kept. See `InMemory`."""
        if self.instead is not None:
            self.instead.finish(keep)
        else:
            super().finish(keep)
