"""A watched call of a function: checked inside TensorFlow, its values kept or, after a hit, made again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tfdbg_cli.analysis.datum import datum_of
from tfdbg_cli.capture.budget import memory_budget
from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.function.capture import FunctionCapture, PerformedCall
from tfdbg_cli.capture.function.instrumented import Instrumented, Outcome
from tfdbg_cli.capture.function.watched import WatchedFunction, watch_kind
from tfdbg_cli.capture.guard import INSIDE
from tfdbg_cli.capture.mishaps import report
from tfdbg_cli.capture.repetition.repeated import Repeated
from tfdbg_cli.capture.session.reach import chooser
from tfdbg_cli.config import Settings
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.writing import size_text
from tfdbg_cli.model.decision import Values
from tfdbg_cli.model.runs import Call, Estimate, Run, RunError
from tfdbg_cli.model.tensors import EMPTY_STORE, TensorStore

_CHECKED = "The run was checked inside TensorFlow: {} checks stand for {} tensors."
_REPLAYED = (
    "These values are of the same run made once more, from the state that was held before it: the program's own "
    "variables are as the run left them."
)
_OTHERWISE = (
    "Made once more, the run gave nothing that the watch asks for: the values shown are not those of the hit. "
    "Another thread may have changed a variable meanwhile. `run -f … --values keep` keeps the values of every run."
)
_NOT_AGAIN = "The run could not be made once more, so its values are missing: {}"
_KEPT_INSTEAD = "This run cannot be made again ({}), so its values were kept instead."
_NOT_INSIDE = (
    "Whether a tensor passes {} could not be asked inside TensorFlow: too little is known of {} before the run. "
    "Every value was given back and asked, which costs more."
)
_NO_VALUES = (
    "The values are missing: they would take about {}, more than the {} of memory that tfdbg may use. Raise the "
    "budget with `config set memory_budget SIZE`."
)


class WatchedValues(FunctionCapture):
    """A watched call with every value, and the answer of the checks (`performing.SelfChecking`)."""

    def __init__(self, call: PerformedCall, plan: Plan, room: int, watched: WatchedFunction, note: str = "") -> None:
        """Prepare the call; `note` says why it is made so."""
        super().__init__(call, plan, room, watched.with_values)
        self._watched = watched
        self._note = note

    @property
    def passed(self) -> bool:
        """Whether all tensors were checked, and nothing was found."""
        return self.outcome is not None and self.outcome.found is False

    def run(self, call: Call, error: RunError | None) -> Run:
        run = super().run(call, error)
        caught = self.outcome is not None and _is_hit(self.outcome, run.tensors)
        notes = (*run.notes, _checked(self._watched), *([self._note] if self._note else []))
        self._run = replace(run, graph=self._watched.graph, notes=notes, caught=caught)
        return self._run


class AskedValues(FunctionCapture):
    """A watched call with every value, for a filter that is asked of each of them."""

    def __init__(
        self, call: PerformedCall, plan: Plan, room: int, instrumented: Instrumented, note: str = ""
    ) -> None:
        """Prepare the call; `note` says why it is made so."""
        super().__init__(call, plan, room, instrumented)
        self._note = note

    def run(self, call: Call, error: RunError | None) -> Run:
        run = super().run(call, error)
        notes = (*run.notes, *([self._note] if self._note else []))
        self._run = replace(run, graph=self.call.traced.watched_graph, notes=notes)
        return self._run


class WatchedState(FunctionCapture):
    """A watched call that gives the answer of its checks; its state is held so that it can be made again."""

    def __init__(
        self, call: PerformedCall, plan: Plan, room: int, watched: WatchedFunction, settings: Settings
    ) -> None:
        """Prepare the call. What is held may take `room` bytes; `settings` say what its values may take."""
        super().__init__(call, plan, room, watched.checked_only)
        self._watched = watched
        self._settings = settings

    def perform(self) -> Any:
        """Make the call. Raises what the call raises."""
        with INSIDE:
            try:
                self.held = self._watched.hold(self.call.inputs, self.room)
            except Exception as error:  # noqa: BLE001  # the run is checked all the same
                report("hold what a run can be made again from", error)
            self.outcome = self.instrumented.perform(self.call.inputs, self.room)
        if self.outcome.error is not None:
            raise self.outcome.error
        return list(self.outcome.outputs) or None

    @property
    def passed(self) -> bool:
        """Whether all tensors were checked, and nothing was found."""
        return self.outcome is not None and self.outcome.found is False

    def run(self, call: Call, error: RunError | None) -> Run:
        """The run, made again with all its values; without them when it cannot be."""
        assert self.outcome is not None
        if self.held is not None:
            self._watched.after(self.held, self.outcome)
        again = self._again(self.outcome)
        caught = _is_hit(self.outcome, again.tensors)
        run = replace(self.made(call, error, again.tensors, ()), graph=self.call.traced.watched_graph, caught=caught)
        if caught and len(again.tensors) and not self._finds(run):
            again = replace(again, notes=(_OTHERWISE, *again.notes[1:]))
        notes = (*self.outcome.notes, _checked(self._watched), *again.notes)
        self._run = replace(run, notes=tuple(dict.fromkeys(notes)))
        return self._run

    def _again(self, outcome: Outcome) -> Repeated:
        """The values of the call made again; the first note says whether they are there."""
        estimate = _estimate(self.call, self.plan, self._settings)
        if not _fits(estimate):
            sizes = size_text(estimate.nbytes or 0), size_text(estimate.budget)
            return Repeated(EMPTY_STORE, (_NO_VALUES.format(*sizes),))
        try:
            if self.held is None:
                raise TfdbgError("The state before it could not be held.")
            again = self.held.again(self.room)
            different = "" if outcome.error is not None else self.held.difference(outcome.outputs, again)
        except Exception as error:  # noqa: BLE001  # the hit is worth showing without values, too
            if not isinstance(error, TfdbgError):
                report("make a run again", error)
            return Repeated(EMPTY_STORE, (_NOT_AGAIN.format(error),))
        return replace(again, notes=(_REPLAYED, *again.notes, *([different] if different else [])))

    def _finds(self, run: Run) -> bool:
        question = self._watched.question
        if question.compares:
            return True  # a run made again does not show the variables before their update
        return any(question.test(datum_of(run, row), run.tensors.value(row)) for row in range(len(run.tensors)))


def watch_capture(call: PerformedCall, plan: Plan, settings: Settings) -> FunctionCapture:
    """The way to make `call` for `plan`, in the memory that `settings` leave."""
    kind = watch_kind(plan)
    room = memory_budget(settings)
    if plan.watched is None:
        return FunctionCapture(call, plan, room)
    if kind is None:
        return AskedValues(call, plan, room, call.traced.instrumented_with_updated)
    watched = call.traced.watched(kind)
    if watched.frontier.unasked:
        note = _NOT_INSIDE.format(kind.question.name, watched.frontier.unasked[0])
        return AskedValues(call, plan, room, call.traced.instrumented_with_updated, note)
    if plan.watched.values is Values.KEEP:
        return WatchedValues(call, plan, room, watched)
    reason = watched.holding.obstacle(room)
    if reason and _fits(_estimate(call, plan, settings)):
        return WatchedValues(call, plan, room, watched, _KEPT_INSTEAD.format(reason))
    return WatchedState(call, plan, room, watched, settings)


def _is_hit(outcome: Outcome, tensors: TensorStore) -> bool:
    """Whether something was found; where it may have been, the filter is asked, if there are values."""
    return bool(outcome.found) and (outcome.sure or not len(tensors))


def _estimate(call: PerformedCall, plan: Plan, settings: Settings) -> Estimate:
    return call.traced.estimate(chooser(plan.capture).admits, call.inputs, settings)


def _fits(estimate: Estimate) -> bool:
    return estimate.nbytes is None or estimate.nbytes <= estimate.budget


def _checked(watched: WatchedFunction) -> str:
    return _CHECKED.format(watched.frontier.checked, watched.frontier.watched)
