"""Compares a watched run with a plain one on copies; where they differ the program gets the plain results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfdbg_cli.capture.controller import WatchRequest
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.runs.session.checking import Checking
from tfdbg_cli.capture.runs.session.mirror import mirrored
from tfdbg_cli.capture.sessions.call_names import elements_of
from tfdbg_cli.capture.sessions.exact.made_alike import OtherRunError
from tfdbg_cli.capture.sessions.exact.other_ops import other_ops
from tfdbg_cli.capture.sessions.exact.run_effect import RunEffect
from tfdbg_cli.capture.sessions.exact.traffic import traffic_of
from tfdbg_cli.capture.sessions.extended.call_checks import CallChecks, call_checks, state_of
from tfdbg_cli.capture.sessions.fetched_tensors import fetched_array
from tfdbg_cli.capture.sessions.graphs_that_ran import GraphsThatRan
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.unordered import doubt_of_order
from tfdbg_cli.capture.state.run_snapshot import RunSnapshot
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import FetchedValue, RunResult, SymbolicTensor
from tfdbg_cli.collection import COLLECTOR
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.exactness import Exactness, ExecutionWay, Parting
from tfdbg_cli.model.units import names_text
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.process.interruptions import OUR_ERRORS_SUPPRESSED, our_errors

_GIVEN = (
    "Watched, this run gave other numbers than left alone ({names}), so the program was given those that it "
    "would have got."
)
_FROM_NOW = "Further runs of this kind are left as they are, and checked when they are made again."
_OTHER_OPS = (
    "TensorFlow's optimizer made something else of {names} than in a run left alone, so last digits may differ, "
    "though none did in the runs that were compared."
)
_SHOWN = "The values shown are those of the watched run."
_CALLS = "What the functions that it calls became in TensorFlow's optimizer was not compared."
_UNPROVEN = "What TensorFlow's optimizer made of the run was not compared with what it makes of one left alone."
_BUSY = (
    "Other runs were made of the session meanwhile that use its variables, so this one was not compared with the "
    "same run left alone."
)
_KEPT = "The values were taken while the run happened, so its last digits may differ from those of a run left alone."

_OTHER_RUN = "{why} So it was not compared with the same run left alone, and last digits may differ."

_OTHERWISE = (
    "The same run made again on copies gave something else, watched or not, so last digits may differ and it cannot "
    "be told which."
)


class TrialRun:
    """One watched run, which may be made once more plainly, on copies, to compare it."""

    def __init__(
        self, invocation: Invocation, call: CallChecks, watched: WatchRequest, request: CaptureRequest, *, kept: bool
    ) -> None:
        """Begin before the run is made. With `kept` values are taken while it happens, and nothing is compared."""
        self._invocation = invocation
        self._watched = watched
        self._request = request
        self._call = call
        self._kept = kept
        self._under_way = traffic_of(invocation.session).own
        self._due = not kept and call.trial.next_is_due()
        self._compared = 0
        self._doubt = ""
        self._left = False
        self._differs: tuple[Parting, ...] = ()
        config = compat.session_config(invocation.session)
        told = config is None or not config.experimental.disable_output_partition_graphs
        wanted = self._due and told and not call.trial.proven and not call.shadow_ops.ops
        self.graphs = GraphsThatRan() if wanted else None
        self.beside: Sequence[SymbolicTensor] = ()  # tensors whose values are kept, fetched in the run
        self.fetches: Sequence[SymbolicTensor] = elements_of(invocation).tensors

    def begin(self, held: RunSnapshot) -> None:
        """Have the plain run prepared beside the watched one, the first time that it is going to be made.

        Both runs have one order: where it is left to chance, which threads of ours would change, no run is held.
        """
        trial = self._call.trial
        if not self._due or trial.prepared:
            return
        trial.prepared = True
        with OUR_ERRORS_SUPPRESSED:  # what fails here fails again where it is wanted, or in the run itself
            held.prepare_plain()

    def settled(
        self, result: RunResult, values: Sequence[FetchedValue], held: RunSnapshot | None, hit: bool
    ) -> RunResult:
        """The result for the program, after a run that gave `result`, and `values` for `fetches`.

        If the plain run gives something else its results are returned, and the variables are set to what it leaves.
        """
        if held is None or not (self._due or hit):
            return result
        if self._under_way is None or not self._under_way.met_none_but(self._leaves_alone):
            self._doubt = _BUSY
            return result
        try:
            settled = self._compare(result, dict(zip((one.name for one in self.fetches), values, strict=True)), held)
            if not hit and not self._differs:
                held.free_copy()  # the next trial is far off, and the copy holds all variables once more
            return settled
        except OtherRunError as error:
            self._call.trial.unlike = _OTHER_RUN.format(why=error.message)
            return result
        except our_errors() as error:  # the run was made; what it gave is the program's
            report("compare a watched run with the same run left alone", error)
            self._doubt = _UNPROVEN
            return result

    def _leaves_alone(self, other: Invocation) -> bool:
        """Whether the run `other` of the same session uses none of the variables of this one: it fills a queue."""
        try:
            state = state_of(other)
        except our_errors():
            return False
        own = {variable.name for variable in self._call.state.variables}
        return not state.obstacle and own.isdisjoint(variable.name for variable in state.variables)

    def _compare(self, result: RunResult, values: Mapping[str, FetchedValue], held: RunSnapshot) -> RunResult:
        trial = self._call.trial
        own = RunEffect({name: fetched_array(value) for name, value in values.items()}, held.after())
        watched = self.graphs if self.graphs is not None and self.graphs.metadata.partition_graphs else None
        plain_graphs = GraphsThatRan() if watched is not None else None
        with COLLECTOR.put_off():
            plain = held.plain_again(plain_graphs)
            if watched is not None and plain_graphs is not None:
                trial.other_ops = other_ops(plain_graphs, watched)
                trial.proven = True
        self._compared = own.count
        self._differs = own.parted_from(plain)
        if not self._differs:
            return result
        if not self._is_faithful(own, held):
            self._differs, self._doubt = (), _OTHERWISE
            return result
        if not self._kept:
            trial.differs = self._differs
        names = {parting.name for parting in self._differs}
        left = {variable: plain.variables[variable.name] for variable in held.before if variable.name in names}
        held.write({one: value for one, value in left.items() if not isinstance(value, NoValue)})
        if not names & plain.fetched.keys():
            return result
        # Of a tensor without dimensions TensorFlow gives a scalar.
        again = {name: value[()] for name, value in plain.fetched.items() if not isinstance(value, NoValue)}
        return self._invocation.answered({**values, **again})

    def _is_faithful(self, own: RunEffect, held: RunSnapshot) -> bool:
        """Whether the run, watched once more on copies, gives the same: if not, runs on copies prove nothing."""
        replay_spec = held.replay_spec()
        with mirrored(held.copy_for(replay_spec), replay_spec) as mirror:
            call = call_checks(mirror.call, self._call.question, self._watched, self._request)
            beside = [mirror.call.session.graph.as_graph_element(tensor.name) for tensor in self.beside]
            result, _ = Checking(mirror.call, call).perform(beside)
            return not own.parted_from(mirror.outcome(result))

    def left(self) -> None:
        """Note that the run was made plainly after all, without checks."""
        self._left = True

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done, for the screen."""
        if not self._differs:
            return ()
        names = names_text(self._differs)
        return ((_GIVEN if self._kept else f"{_GIVEN} {_FROM_NOW}").format(names=names),)

    @property
    def exactness(self) -> Exactness:
        """How exact the run was."""
        trial = self._call.trial
        if self._left:
            return Exactness(ExecutionWay.UNCHANGED)
        if self._differs:
            return Exactness(ExecutionWay.GIVEN, doubt=_SHOWN if self._kept else "")
        if self._kept:
            order = self._call.state.unordered
            return Exactness(ExecutionWay.IN_PLACE, doubt=f"{_KEPT} {doubt_of_order(order)}".rstrip(), order=order)
        doubt = self._doubt or trial.unlike
        if not doubt and trial.other_ops:
            doubt = _OTHER_OPS.format(names=names_text(trial.other_ops))
        if not doubt and not trial.proven:
            doubt = _CALLS if self._call.shadow_ops.ops else _UNPROVEN
        return Exactness(ExecutionWay.PROVEN, self._compared, doubt=doubt)
