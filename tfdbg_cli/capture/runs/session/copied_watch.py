"""Watched runs that are made as the program made them, and looked at when they are made again on copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from tfdbg_cli.analysis.watch.filter import Among
from tfdbg_cli.capture.controller import Plan, WatchRequest
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.interceptable import Capture, SelfChecking
from tfdbg_cli.capture.questions.question import Question
from tfdbg_cli.capture.replay.replayed import Replayed, without_values
from tfdbg_cli.capture.runs.session.checking import Checking
from tfdbg_cli.capture.runs.session.in_place import asked_of, with_after
from tfdbg_cli.capture.runs.session.mirror import mirrored
from tfdbg_cli.capture.runs.session.runtime_graph import RuntimeCapture
from tfdbg_cli.capture.runs.session.unchanged_capture import UnchangedCapture
from tfdbg_cli.capture.runs.watch_policy import checked, fits, is_hit, too_large
from tfdbg_cli.capture.sessions.exact.run_effect import RunEffect
from tfdbg_cli.capture.sessions.extended.call_checks import call_checks, call_kind, reached_by
from tfdbg_cli.capture.sessions.fetched_tensors import described
from tfdbg_cli.capture.sessions.hidden_ops import PREFIX
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.reach import KINDS
from tfdbg_cli.capture.sessions.updated_variables import with_updated
from tfdbg_cli.capture.state.run_snapshot import RunSnapshot
from tfdbg_cli.capture.stores import joined
from tfdbg_cli.capture.tf.memo import Memos
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.exactness import Exactness, ExecutionWay
from tfdbg_cli.model.gathered import PartOfStore
from tfdbg_cli.model.replay import ReplaySpec
from tfdbg_cli.model.runs import Estimate, Run
from tfdbg_cli.model.tensors import MemoryTensorStore, TensorStore
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.process.interruptions import our_errors


@dataclass
class _Agreed:
    """Which of the attempts to make a run of one kind again agreed with the program's run last."""

    place: int = 0


_AGREED: Memos[_Agreed] = Memos(keep=KINDS)


class CopiedWatch(UnchangedCapture):
    """One run under watch that is checked on copies (`interceptable.Capture`, `interceptable.SelfChecking`)."""

    def __init__(
        self,
        invocation: Invocation,
        plan: Plan,
        in_place: Callable[[str], Capture],
        question: Question,
        watched: WatchRequest,
        needed: Callable[[], Estimate],
        notes: tuple[str, ...] = (),
    ) -> None:
        """As for an UnchangedCapture; `needed` estimates the size of the values of the run."""
        super().__init__(invocation, plan, in_place, notes)
        self._question = question
        self._watched = watched
        self._needed = needed
        self._checking: Checking | None = None
        self._chosen: ReplaySpec | None = None
        self._counted = ""
        self._seen_itself = False  # whether the program's own results pass the filter; asked if no replay agrees

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        result = super().perform()
        if self.held is not None and self.instead is None:
            try:
                self._check(self.held)
            except our_errors() as error:  # then the values are asked, one by one
                report("check a run that was made again", error)
                self._checking = None
        return result

    def _check(self, held: RunSnapshot) -> None:
        """Check the attempt that agrees with the program's run; if none does, the first that can be made.

        Runs of one kind take the same order most of the time: so the one that agreed last is tried before the others.
        In another order than the program's run an op may fail that did not fail there.

        Raises:
            OpError: an op fails in each of them.

        """
        known = _AGREED.of(self.invocation.session.graph, call_kind(self.invocation), _Agreed)
        attempts: Iterable[tuple[int, ReplaySpec]] = enumerate(self.attempts(held))
        if known.place:
            attempts = sorted(attempts, key=lambda pair: pair[0] != known.place)
        first, failed = None, None
        for place, attempt in attempts:
            try:
                checking, outcome = self._checked(held, attempt)
            except OpError as error:
                failed = error
                continue
            if first is None or not place:
                first = (checking, attempt)
            if not self.outcome.parted_from(outcome):
                self._checking, self._chosen = checking, attempt
                known.place = place
                return
        if first is not None:
            self._checking, self._chosen = first
            self._seen_itself = self._is_asked_of_outcome()
        elif failed is not None:
            raise failed

    def _is_asked_of_outcome(self) -> bool:
        """Whether a value that the program's own run fetched, or left in a variable, passes the filter."""
        graph, question = self.invocation.session.graph, self._question
        types = {name: graph.as_graph_element(name).op.type for name in self.outcome.fetched}
        values = [(types[name], value) for name, value in self.outcome.fetched.items()]
        values += [(UPDATED_VARIABLE, value) for value in self.outcome.variables.values()]
        return question.among is not Among.GRADIENTS and any(
            question.concerns(op_type, value.dtype.name, value.shape) and question.asked_of(value)
            for op_type, value in values
            if not isinstance(value, NoValue)
        )

    def _checked(self, held: RunSnapshot, attempt: ReplaySpec) -> tuple[Checking, RunEffect]:
        with mirrored(held.copy_for(attempt), attempt) as mirror:
            call = call_checks(mirror.call, self._question, self._watched, self.plan.capture)
            if call.unasked:
                raise TfdbgError(f"Too little is known of {call.unasked} to check it in the graph.")
            checking = Checking(mirror.call, call)
            result, _ = checking.perform(())
            self._counted = checked(call.checked, call.total, "when it was made again")
            return checking, mirror.outcome(result)

    @property
    def passed(self) -> bool:
        """Whether all tensors were checked, and nothing was found."""
        if self.instead is not None:
            return isinstance(self.instead, SelfChecking) and self.instead.passed
        return self._checking is not None and self._checking.done and not self._found

    @property
    def exactness(self) -> Exactness | None:
        """That the run was left alone, and whether the graph leaves the order of some ops to chance."""
        return None if self.instead is not None else Exactness(ExecutionWay.UNCHANGED, race=self.state.unordered)

    @property
    def _found(self) -> bool:
        return self._seen_itself or (self._checking is not None and self._checking.found)

    def run(self, call: Call, error: RunError | None) -> Run:
        """The run with its values."""
        run = super().run(call, error)
        if self._checking is None:
            return run
        caught = is_hit(run.tensors, found=self._found, sure=self._checking.sure or self._seen_itself)
        self._run = replace(run, caught=caught, notes=(self._counted, *run.notes))
        return self._run

    def made_again(self, held: RunSnapshot, error: RunError | None) -> tuple[Replayed, Exactness]:
        """The replay of the run; without values where memory has no room for them."""
        estimate = self._needed()
        if not fits(estimate):
            return without_values(too_large(estimate)), Exactness(ExecutionWay.UNCHANGED)
        return super().made_again(held, error)

    def attempts(self, held: RunSnapshot) -> Iterator[ReplaySpec]:
        """As in UnchangedCapture, but first the attempt that was checked."""
        if self._chosen is not None:
            yield self._chosen
        yield from super().attempts(held)


class CopiedDump(UnchangedCapture):
    """One run shown in the runtime's graph, whose values TensorFlow dumps when it is made again."""

    def __init__(
        self, invocation: Invocation, plan: Plan, in_place: Callable[[str], Capture], notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(invocation, plan, in_place)
        self._graph_notes = notes
        self._dumps: list[RuntimeCapture] = []

    def run(self, call: Call, error: RunError | None) -> Run:
        """The run with its values."""
        if self.instead is not None or self.held is None or error is not None:
            return super().run(call, error)
        try:
            run, exactness = self._dumped_in_order(self.held, call)
        except our_errors() as failure:  # values of the other graph are better than none
            report("dump a run that was made again", failure)
            return super().run(call, error)
        bare = self.bare(call, error, self.held, ())
        graph = bare.graph
        known = {name: value for name, value in self.outcome.variables.items() if not isinstance(value, NoValue)}
        written = [one for one in asked_of(self.state.written, self.plan.capture) if one.name in known]
        tensors = with_after(self._with_drawn(run.tensors, self.held), written, [known[one.name] for one in written])
        self._run = replace(
            bare,
            tensors=tensors,
            graph=with_updated(run.graph, written),
            python_graph=graph,
            notes=(*self._graph_notes, *run.notes),
            exactness=exactness,
        )
        return self._run

    def _with_drawn(self, dump: TensorStore, held: RunSnapshot) -> TensorStore:
        """The tensors of `dump`, and before them what was drawn the first time: it was fed, so it was not dumped.

        What was added to the graph for the replay is left out.
        """
        if self.state.turned:
            dump = PartOfStore(dump, [row for row in range(len(dump)) if PREFIX not in dump[row].node])
        sources = [one for one in self.state.sources if one.name in held.drawn]
        missing = [one for one in sources if not dump.named(one.op.name, one.value_index)]
        values = [held.drawn[one.name] for one in missing]
        return joined(MemoryTensorStore(list(map(described, missing, values)), values), dump)

    def _dumped_in_order(self, held: RunSnapshot, call: Call) -> tuple[Run, Exactness]:
        """The dumped attempt that agrees with the program's run; if none does, the first one."""
        found: list[tuple[Run, Exactness]] = []
        for attempt in self.attempts(held):
            found.append(self._dumped(held, attempt, call))
            if found[-1][1].exact:
                return found[-1]
        return found[0]

    def _dumped(self, held: RunSnapshot, attempt: ReplaySpec, call: Call) -> tuple[Run, Exactness]:
        with mirrored(held.copy_for(attempt), attempt) as mirror:
            dump = RuntimeCapture(mirror.call, replace(self.plan, directory=None), reached_by(mirror.call), ())
            self._dumps.append(dump)
            differs = self.outcome.parted_from(mirror.outcome(dump.perform()))
        exactness = Exactness(ExecutionWay.UNCHANGED, self.outcome.count, differs, race=self.state.unordered)
        return dump.run(call, None), exactness

    def finish(self, keep: bool) -> None:
        """As for an UnchangedCapture; the folders of the dumps are deleted."""
        try:
            super().finish(keep)
        finally:
            for dump in self._dumps:
                dump.finish(False)
