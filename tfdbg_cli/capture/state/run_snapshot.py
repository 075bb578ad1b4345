"""The snapshot of one run of a session: what it was given and read, so that it can be made again or undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from tfdbg_cli.capture.replay.copies import Copies
from tfdbg_cli.capture.replay.replaced_values import with_replaced
from tfdbg_cli.capture.replay.replayed import Replayed
from tfdbg_cli.capture.replay.session import replay_session
from tfdbg_cli.capture.replay.session_copy import CONFIG, UPDATED, SessionCopy
from tfdbg_cli.capture.replay.shelf import Shelf
from tfdbg_cli.capture.sessions import variable_ops
from tfdbg_cli.capture.sessions.call_names import elements_of, fed_to
from tfdbg_cli.capture.sessions.call_state import CallState, UsedVariable
from tfdbg_cli.capture.sessions.exact.made_alike import require_alike
from tfdbg_cli.capture.sessions.exact.quiet_graph import QuietGraph, quiet_graph
from tfdbg_cli.capture.sessions.exact.reads_at_the_end import late_reads
from tfdbg_cli.capture.sessions.exact.run_effect import RunEffect
from tfdbg_cli.capture.sessions.extended.call_checks import call_kind, reached_by
from tfdbg_cli.capture.sessions.extended.checks import read_before
from tfdbg_cli.capture.sessions.fetched_tensors import fetched_array
from tfdbg_cli.capture.sessions.graphs_that_ran import GraphsThatRan
from tfdbg_cli.capture.sessions.hidden_ops import NewOp, hidden_ops
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.program_graph import tensor_name
from tfdbg_cli.capture.sessions.reach import KINDS
from tfdbg_cli.capture.state.initialized_variables import INITIALIZED
from tfdbg_cli.capture.stores import known_value
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.memo import Memo, Memos
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.second_thread import SecondThread
from tfdbg_cli.capture.tf.types import FetchedValue, Op, RawSession, SymbolicTensor
from tfdbg_cli.errors import TfdbgError, reason_of
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.units import names_text
from tfdbg_cli.model.values import Array
from tfdbg_cli.process.interruptions import our_errors

COPIES = Memo(lambda graph: Copies())  # by graph, the copies in which its runs are made again
# By graph, what its runs made again need of it. The copies hold these graphs, too.
_QUIET: Memo[Shelf[QuietGraph]] = Memo(lambda graph: Shelf(lambda quiet: len(quiet.definition)))
# A run of ours wakes the threads of TensorFlow's pool. Just before or after the program's run, that would decide who
# wins races in it where the graph fixes no order.
_IN_THIS_THREAD = compat.v1.RunOptions(inter_op_thread_pool=-1)
_NOT_DRAWN = np.empty(0)
_LATE: Memos[Sequence[SymbolicTensor]] = Memos(keep=KINDS)
_Readers: TypeAlias = dict[tuple[str, ...], Callable[[], Sequence[FetchedValue]]]
_READERS: Memo[_Readers] = Memo(lambda session: {})  # what reads the variables of each kind of call of a session
_EFFECTS = "Ops that act outside of the graph (writing files, printing, filling queues) are left out: {names}."
_AFTERWARDS = (
    "Variables that the run only read are as they were after it; another thread may have changed them meanwhile."
)


class RunSnapshot:
    """What one run was given, and the variables that it writes as they were before it.

    Made before the run. It holds the feeds as the program gave them, and copies of the variables that the run may
    write; other variables are read when they are wanted. What the `sources` drew is passed to it after the run.
    """

    def __init__(self, invocation: Invocation, state: CallState) -> None:
        """Read the variables that the call may write.

        Raises:
            tf.errors.OpError: a variable has no value yet, most of the time.

        """
        self._invocation = invocation
        self._session = invocation.session
        self._state = state
        self._feeds = fed_to(invocation)
        self._before = read(self._session, state.written)
        self._sources: Mapping[str, Array] = {}
        self._preparing: SecondThread[None] | None = None

    @property
    def sources(self) -> Sequence[SymbolicTensor]:
        """The tensors to fetch with the run, whose values `drew` takes: those that it draws, or copies of them."""
        state, graph = self._state, self._session.graph
        if not state.unordered:
            return state.sources
        key = (call_kind(self._invocation), tuple(one.name for one in elements_of(self._invocation).tensors))
        return _LATE.of(graph, key, self._read_late)

    def _read_late(self) -> Sequence[SymbolicTensor]:
        """If the order of the run is left to chance, hidden copies of the draws, made after all other ops."""
        hidden, state = hidden_ops(self._session.graph), self._state
        fetched = {tensor.name for tensor in elements_of(self._invocation).tensors}
        order = reached_by(self._invocation).order
        late = late_reads(hidden, state.sources, order, frozenset(self._feeds), fetched)
        return (*late, *(draw.carried(hidden) for draw in state.turned))

    @property
    def drawn(self) -> Mapping[str, Array]:
        """What the sources gave, by name, as far as it is known."""
        return self._sources

    def drew(self, values: Sequence[FetchedValue]) -> None:
        """Take in what the sources gave, in their order."""
        names = (*(tensor.name for tensor in self._state.sources), *(draw.fed for draw in self._state.turned))
        self._sources = dict(zip(names, map(fetched_array, values), strict=True))

    def drew_until_failure(self, values: Mapping[str, FetchedValue]) -> None:
        """Take in what the sources gave, by name, as far as the run came."""
        self._sources = {name: fetched_array(value) for name, value in values.items()}

    def drew_among(self, tensors: TensorStore) -> None:
        """Find what the sources gave among the values of the run, as far as they are there."""
        found: dict[str, Array] = {}
        for tensor in self._state.sources:
            value = known_value(tensors, tensor_name(tensor))
            if value is not None:
                found[tensor.name] = value
        self._sources = found

    def replay_spec(self) -> ReplaySpec:
        """All that it takes to make the run again. See `model.replay.Replayable`.

        Raises:
            TfdbgError: it cannot be made again, the batch or the random numbers that it drew are not known, the
                session is closed, or the graph is too large.

        """
        if self._preparing is not None:
            self._preparing.wait()
        if self._state.obstacle:
            raise not_replayable(self._state)
        missing = [tensor.name for tensor in self._state.sources if tensor.name not in self._sources]
        missing += [draw.tensor.name for draw in self._state.turned if draw.fed not in self._sources]
        if missing:
            raise TfdbgError(
                f"What {', '.join(missing[:3])} gave is not known, so the run cannot be made again.",
                hint="Capture a run that does not fail, without filters; or feed the values instead.",
            )
        try:
            return self._spec(self._inputs(self._sources.__getitem__))
        except our_errors(OpError, RuntimeError) as error:
            raise TfdbgError(f"The session gives its variables no more: {reason_of(error)}") from error

    def _inputs(self, drawn: Callable[[str], Array]) -> tuple[ReplayInput, ...]:
        """What the run read, of which `drawn` tells what a source gave."""
        return (*self._given(), *self._variables(), *self._draws(drawn))

    def _spec(self, inputs: tuple[ReplayInput, ...]) -> ReplaySpec:
        elements = elements_of(self._invocation)
        quiet = self._quiet()
        targets = [op.name for op in elements.targets if op.name not in quiet.lost]
        return ReplaySpec(
            self._invocation.kind,
            quiet.definition,
            fetches=(*(tensor.name for tensor in elements.tensors), *targets, *quiet.led_to),
            inputs=inputs,
            limits=self._limits(),
            details={
                CONFIG: self._session_config(),
                UPDATED: "\n".join(variable.name for variable in self._state.written),
            },
        )

    def with_values(self, replaced: Mapping[TensorName, Array]) -> tuple[TensorStore, RunError | None]:
        """What the run gives when the tensors `replaced` have these values. See `model.replay.Replayable`."""
        again = replay_session(with_replaced(self.replay_spec(), replaced))
        return again.tensors, again.error

    def after(self) -> dict[str, Array]:
        """The variables that the run may have written, as they are now, by name.

        Raises:
            tf.errors.OpError: one cannot be read.

        """
        return {variable.name: value for variable, value in read(self._session, self._state.written).items()}

    @property
    def before(self) -> Mapping[UsedVariable, Array]:
        """The variables that the run may write, as they were before it."""
        return self._before

    def copy_for(self, replay_spec: ReplaySpec) -> SessionCopy:
        """Where runs of this kind are made again; kept with the program's graph."""
        return COPIES.of(self._session.graph).of(replay_spec)

    def prepare_plain(self) -> None:
        """Have what `plain_again` needs prepared in a second thread, while TensorFlow compiles the program's run.

        Whatever fails there fails again where it is wanted, and is told then.

        Raises:
            tf.errors.OpError: a variable cannot be read.
            TfdbgError: the run cannot be made again.

        """
        inputs = self._inputs(lambda name: _NOT_DRAWN)
        self._preparing = SecondThread(lambda: self.copy_for(self._spec(inputs)).prepare_plain())

    def replayed(self) -> Replayed:
        """The run made again, with all its values.

        Raises:
            TfdbgError: it cannot be made again.

        """
        replay_spec = self.replay_spec()
        return replay_session(replay_spec, copy=self.copy_for(replay_spec))

    def plain_again(self, graphs: GraphsThatRan | None = None) -> RunEffect:
        """The run made again on copies as the program made it. Raises what an op raises.

        With `graphs` what ran is collected there.

        Raises:
            OtherRunError: not all that the program's run updates was updated, or more was.
            TfdbgError: it cannot be made again.

        """
        replay_spec = self.replay_spec()
        copy = self.copy_for(replay_spec)
        if graphs is None and not copy.alike:
            graphs = GraphsThatRan()
        outcome = copy.plain(replay_spec, None if graphs is None else graphs.metadata)
        if graphs is not None and not copy.alike:
            fed_names = frozenset(self._feeds)
            require_alike(reached_by(self._invocation).order, fed_names, self._state, graphs)
            copy.alike = True
        return outcome

    def free_copy(self) -> None:
        """Free the variables of the copy that `plain_again` used, until the copy is used again."""
        self.copy_for(self.replay_spec()).forget()

    def write(self, values: Mapping[UsedVariable, Array]) -> None:
        """Give variables of the program values, in one run. Raises what an op raises."""
        if values:
            places, writes = self._writers(list(values))
            with INSIDE:
                # TensorFlow may keep what it is fed, and write into it.
                given = [np.array(value, copy=True) for value in values.values()]
                self._session.run(writes, dict(zip(places, given, strict=True)))

    def undo(self) -> tuple[str, ...]:
        """Put the variables back as they were before the run. See `model.replay.Replayable`."""
        failed = []
        try:
            self.write(self._before)
        except our_errors():  # one of them; the others are put back all the same
            for variable, value in self._before.items():
                try:
                    self.write({variable: value})
                except our_errors() as error:  # the session may be closed, the device full
                    failed.append(f"{variable.name} could not be put back: {type(error).__name__}.")
        if self._state.sources or self._state.turned:
            failed.append("What was drawn (batches, random numbers) stays drawn.")
        return tuple(failed)

    def _quiet(self) -> QuietGraph:
        """What the run needs of the program's graph, serialized; nothing in it acts outside."""
        graph = self._session.graph
        order = reached_by(self._invocation).order
        key = call_kind(self._invocation)
        return _QUIET.of(graph).of(key, lambda: quiet_graph(graph, order, self._feeds, self._state))

    def _given(self) -> list[ReplayInput]:
        graph = self._session.graph
        found = []
        for name, value in self._feeds.items():
            tensor = graph.as_graph_element(name)
            array = np.asarray(value, tensor.dtype.as_numpy_dtype)
            found.append(ReplayInput(name, InputRole.GIVEN, tensor.dtype.name, array))
        return found

    def _variables(self) -> list[ReplayInput]:
        only_read = [variable for variable in self._state.variables if not variable.writers]
        with INSIDE:  # one without a value has none in the run made again, which may ask whether it has
            held = INITIALIZED.of(self._session).among(self._session, only_read, _IN_THIS_THREAD)
        values = {**self._before, **read(self._session, held)}
        return [
            ReplayInput(variable.name, InputRole.VARIABLE, variable.dtype.name, value, variable.name)
            for variable, value in values.items()
        ]

    def _draws(self, drawn: Callable[[str], Array]) -> list[ReplayInput]:
        named = [(tensor.name, tensor.dtype) for tensor in self._state.sources]
        named += [(draw.fed, draw.tensor.dtype) for draw in self._state.turned]
        return [ReplayInput(name, InputRole.SOURCE, dtype.name, drawn(name)) for name, dtype in named]

    def _limits(self) -> tuple[str, ...]:
        drawn = {tensor.op.name for tensor in self._state.sources}
        drawn.update(draw.tensor.op.name for draw in self._state.turned)
        effects = [op.name for op in self._state.outside if op.name not in drawn]
        limits = [_EFFECTS.format(names=names_text(effects))] if effects else []
        if any(not variable.writers for variable in self._state.variables):
            limits.append(_AFTERWARDS)
        return tuple(limits)

    def _session_config(self) -> str:
        config = compat.session_config(self._session)
        return "" if config is None else config.SerializeToString(deterministic=True).hex()

    def _writers(self, variables: Sequence[UsedVariable]) -> tuple[list[SymbolicTensor], list[Op]]:
        """For each of `variables` a placeholder, and the op that writes it there."""
        hidden = hidden_ops(self._session.graph)
        places = [
            op.outputs[0] for op in hidden.once({("given", one.name): partial(_place, one) for one in variables})
        ]
        pairs = zip(variables, places, strict=True)
        return places, hidden.once({("write", one.name): partial(_write, one, place) for one, place in pairs})


def _place(variable: UsedVariable, _: int) -> list[NewOp]:
    return [variable_ops.place_for(variable.dtype)]


def _write(variable: UsedVariable, place: SymbolicTensor, _: int) -> list[NewOp]:
    given = variable_ops.write(
        variable.tensor, place, variable.dtype, variable.op.device, reference=variable.reference
    )
    return [given]


def read(session: RawSession, variables: Sequence[UsedVariable]) -> dict[UsedVariable, Array]:
    """The values of `variables` now, copied.

    Raises:
        tf.errors.OpError: one has no value yet, most of the time.

    """
    if not variables:
        return {}
    readers = _READERS.of(session)
    names = tuple(variable.name for variable in variables)
    with INSIDE:
        INITIALIZED.of(session).require(session, variables, _IN_THIS_THREAD)
        if names not in readers:
            tensors = read_before(hidden_ops(session.graph), variables)
            readers[names] = compat.reader_of(session, [one.name for one in tensors], run_options=_IN_THIS_THREAD)
        values = readers[names]()
    # What is read from a variable of the old kind shares its memory, and would change with it.
    return {
        variable: np.array(value, copy=True) if variable.reference else fetched_array(value)
        for variable, value in zip(variables, values, strict=True)
    }


def not_replayable(state: CallState) -> TfdbgError:
    """Why a call cannot be made again."""
    return TfdbgError(
        f"This run cannot be made again: {state.obstacle}.", hint="Its values can be kept: `run -f … --values keep`."
    )
