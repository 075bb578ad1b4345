"""The snapshot of one call of a function: all that it takes to make it again, or to undo it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import tensorflow as tf

from tfdbg_cli.capture.functions.calling.instrumented import CallResult
from tfdbg_cli.capture.functions.calling.kept_tensors import KeptTensors, array_of
from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.definition.called_functions import with_called
from tfdbg_cli.capture.functions.definition.effects import silence
from tfdbg_cli.capture.replay.function import ReadyFunction, fresh_variable, replay_function
from tfdbg_cli.capture.replay.function_details import FunctionDetails, names_in, places_in
from tfdbg_cli.capture.replay.optimized import OptimizedFunction
from tfdbg_cli.capture.replay.replaced_values import with_replaced
from tfdbg_cli.capture.replay.replayed import Replayed
from tfdbg_cli.capture.state.outside import Outside, ReplayPart
from tfdbg_cli.capture.state.snapshot_plan import SnapshotPlan
from tfdbg_cli.capture.state.variable_values import put_back
from tfdbg_cli.capture.state.writing_threads import WRITING_THREADS, WritesBegun
from tfdbg_cli.capture.tf.compat import dtype_number
from tfdbg_cli.capture.tf.op_errors import OpError, run_error
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunError, RunKind
from tfdbg_cli.model.dtypes import HANDLE_NUMBERS, RESOURCE, element_type
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Array, NoValue

_NOT_PUT_BACK = "The variable {} could not be put back: {}."
_NO_VALUE = "it had no value before the run"
_NOT_HELD = (
    "its value was not held. `run -f FILTER --values keep` holds it, of runs that fail too; so does `tfdbg run"
    " --until FILTER --values keep`, from the start"
)


@dataclass(frozen=True)
class ReplayedCall:
    """A call made again: all its values, what it gave by name, and its variables after it, by position."""

    replayed: Replayed
    captured: KeptTensors
    outputs: Mapping[TensorName, EagerTensor]
    variables: Mapping[int, EagerTensor | None]


class CallSnapshot:
    """The snapshot of one call (`model.replay.Replayable`).

    `before` has the values of variables before the call, by the position of their handles among the inputs; None for
    a variable that was not initialized. Variables that the call does not change are read when their value is wanted:
    until the program goes on it is the same. `lack` says why values in `before` are missing. `room` is how many bytes
    the snapshot, and what is computed from it, may take; None: any. `moment` is from before the values were read.
    """

    def __init__(
        self,
        plan: SnapshotPlan,
        inputs: Sequence[EagerTensor],
        before: Mapping[int, EagerTensor | None],
        lack: str = "",
        room: int | None = None,
        moment: WritesBegun | None = None,
    ) -> None:
        self._plan = plan
        self._moment = moment or WRITING_THREADS.now()
        self._inputs = tuple(inputs)
        self._before = dict(before)
        self._lack = lack
        self.room = room
        self._drawn: dict[TensorName, EagerTensor] = {}

    @classmethod
    def of(
        cls,
        plan: SnapshotPlan,
        inputs: Sequence[EagerTensor],
        covered: Collection[int] = (),
        room: int | None = None,
    ) -> CallSnapshot:
        """Take a snapshot of a call that is about to be made with `inputs`, flat eager tensors.

        Reads the variables that the call may change, except those at the positions `covered`, whose values are passed
        to `after`. Nothing is copied: an update of a variable whose value is held makes a new buffer. If these values
        take more than `room` bytes (None: any) none is held; asking for one then raises an error that says so.
        """
        moment = WRITING_THREADS.now()
        if lack := plan.lacks(room):
            return cls(plan, inputs, {}, lack, room)
        positions = [at for at in plan.written if at not in covered and plan.is_variable(inputs, at)]
        return cls(plan, inputs, dict(zip(positions, plan.read(inputs, positions), strict=True)), "", room, moment)

    @property
    def plan(self) -> SnapshotPlan:
        """What is known of the function."""
        return self._plan

    @property
    def alone(self) -> bool:
        """Whether no other thread may have written variables of the call since it was taken."""
        return not self._has_handles or WRITING_THREADS.quiet_since(self._moment)

    def kept_alone(self) -> AbstractContextManager[bool]:
        """A context in which other threads begin no call that may write variables; gives whether it is `alone`."""
        return WRITING_THREADS.halted_since(self._moment) if self._has_handles else nullcontext(True)

    @property
    def _has_handles(self) -> bool:
        """Whether the call was given a variable, or anything else by its handle."""
        return any(dtype_number(given) in HANDLE_NUMBERS for given in self._inputs)

    @property
    def inputs(self) -> Sequence[EagerTensor]:
        """The flat tensors that the call was given."""
        return self._inputs

    @property
    def drawn(self) -> Mapping[TensorName, EagerTensor]:
        """What the call drew from outside."""
        return self._drawn

    def after(
        self, sources: Mapping[TensorName, EagerTensor], variables: Mapping[int, EagerTensor | None] | None = None
    ) -> None:
        """Take what the call drew from outside (`SnapshotPlan.sources`), and values of variables from before it."""
        self._drawn.update(sources)
        self._before.update(variables or {})

    @property
    def missing(self) -> Sequence[int]:
        """The positions of the variables that the call may change and whose values from before it are not held."""
        if self._lack:
            return ()
        return [
            at for at in self._plan.written if at not in self._before and self._plan.is_variable(self._inputs, at)
        ]

    def hold(self, positions: Sequence[int]) -> None:
        """Hold the variables at these positions as they are now: they have not changed since the call began."""
        self._before.update(zip(positions, self._plan.read(self._inputs, positions), strict=True))

    def take_drawn(self, outcome: CallResult) -> None:
        """As `after`, with what the call drew found in `outcome`: all its values, or those until it failed."""
        tensors = outcome.captured
        rows = {name: tensors.named(name.node, name.slot) for name in self._plan.sources}
        self.after(outcome.early)
        self.after({name: tensors.tensor(found[-1]) for name, found in rows.items() if found})

    def variable(self, position: int) -> EagerTensor:
        """The value before the call of the variable whose handle is at `position`.

        Raises:
            TfdbgError: it had none, it is not held, or there is something else than a variable.

        """
        if not self._plan.is_variable(self._inputs, position):
            name = self._plan.root.argument_names[position]
            raise TfdbgError(
                f"{name} is no variable: what a branch or a loop does with a queue, a table or the like cannot be"
                " made again.",
                hint="`run -f … --values keep` keeps the values of every watched run instead.",
            )
        if position not in self._before and position not in self._plan.written:
            self._before[position] = self._plan.read(self._inputs, [position])[0]
        value = self._before.get(position)
        if value is None:
            reason = _NO_VALUE if position in self._before else self._lack or _NOT_HELD
            name = self._plan.root.argument_names[position]
            raise TfdbgError(f"The variable {name} is not known as it was before the run: {reason}.")
        return value

    def replay_spec(self) -> ReplaySpec:
        """All that it takes to make the call again.

        Raises:
            TfdbgError: it cannot be made again; the message says what stands in the way.

        """
        plan = self._plan
        if plan.again is None or plan.outside is None:
            raise TfdbgError(
                f"This run cannot be made again: {plan.reason}.",
                hint="`run -f … --values keep` keeps the values of every watched run instead.",
            )
        return self.replay_spec_of(plan.outside, plan.again)

    def replay_spec_of(self, outside: Outside, again: ReplayPart) -> ReplaySpec:
        """As `replay_spec`, but to make only the part `again` of the call."""
        part = again.part
        library = tf.compat.v1.GraphDef().library
        library.function.extend(silence(definition) for definition in with_called([part.definition]))
        positions = self._positions(part.inputs)
        drawn = {str(name): outside.flat.nodes[name.node] for name in part.inputs if name in outside.drawn}
        details = FunctionDetails(
            places_in(outside.flat),
            self._aliases(positions),
            self._devices(positions),
            {name: (node.op_type, node.device) for name, node in drawn.items()},
            names_in(outside.flat, {function.signature.name for function in library.function}),
        )
        return ReplaySpec(
            RunKind.FUNCTION,
            library.SerializeToString(deterministic=True),
            entry=part.definition.signature.name,
            fetches=tuple(map(str, again.returned)),
            inputs=tuple(self._input(name, own) for name, own in zip(part.inputs, positions, strict=True)),
            limits=outside.limits,
            details=details.packed(),
        )

    def with_values(self, replaced: Mapping[TensorName, Array]) -> tuple[TensorStore, RunError | None]:
        """What the call gives when the tensors `replaced` have these values. See `model.replay.Replayable`."""
        again = replay_function(with_replaced(self.replay_spec(), replaced), self.room)
        return again.tensors, again.error

    def undo(self) -> tuple[str, ...]:
        """Put the variables back as they were before the run. Gives sentences that say what could not be put back."""
        missed = []
        for position in self._plan.written:
            if not self._plan.is_variable(self._inputs, position):
                continue
            try:
                put_back(self._inputs[position], self.variable(position))
            except TfdbgError as error:
                missed.append(f"{error.message} It was not put back.")
            except OpError as error:
                name = self._plan.root.argument_names[position]
                missed.append(_NOT_PUT_BACK.format(name, type(error).__name__))
        return tuple(missed)

    def again(self, room: int | None = None) -> Replayed:
        """Make the call again, on copies of its variables, with all its values; they may take `room` bytes in loops.

        Raises:
            TfdbgError: it cannot be made again; the message says what stands in the way.

        """
        return self.made_again(room).replayed

    def made_nearer(self, room: int | None = None) -> ReplayedCall | None:
        """As `made_again`, by a function that returns fewer values and so rounds more like the plain one.

        Values are left out whose return makes the runtime use other ops. None if calls are made again like that
        already, or if there are no such values. Later replays of this function use it, too.
        """
        made, again = self._plan.ready, self._plan.again
        if made is None or again is None or self._plan.nearer:
            return None
        self._plan.nearer = True
        inputs = self._copied(again.part.inputs, self._positions(again.part.inputs))
        ready = (
            made if isinstance(made, ReadyFunction) else ReadyFunction(self.replay_spec(), WantedRewrite.all_values)
        )
        self._plan.ready = ready.nearer(inputs)
        return self.made_again(room) if self._plan.ready is not made else None

    def made_again(self, room: int | None = None) -> ReplayedCall:
        """As `again`, with what the call gave and how it left its variables."""
        plan = self._plan
        ready = plan.ready = plan.ready or self._ready()
        again = plan.again
        assert again is not None
        positions = self._positions(again.part.inputs)
        inputs = self._copied(again.part.inputs, positions)
        outcome = ready.perform(inputs, room)
        error = None if outcome.error is None else run_error(outcome.error)
        handles = {own: inputs[at] for at, own in enumerate(positions) if own is not None and own in plan.written}
        return ReplayedCall(
            Replayed(outcome.captured, outcome.notes, error),
            outcome.captured,
            dict(zip(again.part.outputs, outcome.outputs, strict=False)),
            plan.read_handles(self._inputs, handles),
        )

    def _ready(self) -> ReadyFunction | OptimizedFunction:
        """What makes calls of this function again, all values given back."""
        plan = self._plan
        optimized = plan.optimized() if plan.is_whole else None
        if optimized is None or plan.again is None:
            return ReadyFunction(self.replay_spec(), WantedRewrite.all_values)
        return OptimizedFunction(plan.root, optimized, plan.again.part.inputs, plan.again.part.outputs)

    def variables_now(self) -> dict[int, EagerTensor | None]:
        """The values that the variables which the call writes have now, by position."""
        plan = self._plan
        return plan.read_handles(self._inputs, {at: self._inputs[at] for at in plan.written})

    def _copied(self, names: Sequence[TensorName], positions: Sequence[int | None]) -> list[EagerTensor]:
        """Inputs for one more call: what was given and drawn, and handles of fresh variables with the old values."""
        found: list[EagerTensor] = []
        aliases, devices = self._aliases(positions), self._devices(positions)
        for at, (name, own) in enumerate(zip(names, positions, strict=True)):
            if own is None:
                found.append(self._taken(name))
            elif not self._is_handle(own):
                found.append(self._inputs[own])
            elif at in aliases:
                found.append(found[aliases[at]])
            else:
                found.append(fresh_variable(self.variable(own), devices.get(at, "")))
        return found

    def _taken(self, name: TensorName) -> EagerTensor:
        """What an op drew during the run, as the snapshot has it."""
        if name not in self._drawn:
            raise TfdbgError(f"What {name.node} drew during the run was not taken, so it cannot be made again.")
        return self._drawn[name]

    def _is_handle(self, position: int) -> bool:
        return self._plan.root.body.argument_types[position] == RESOURCE

    def _positions(self, names: Iterable[TensorName]) -> list[int | None]:
        """Where the inputs called `names` are among those of the call; None for what an op drew."""
        return list(map(self._plan.root.argument_positions.get, names))

    def _devices(self, positions: Sequence[int | None]) -> dict[int, str]:
        """The devices of variables, by the place of their handles."""
        given = {
            at: self._inputs[own] for at, own in enumerate(positions) if own is not None and self._is_handle(own)
        }
        return {at: str(handle.device) for at, handle in given.items()}

    def _aliases(self, positions: Sequence[int | None]) -> dict[int, int]:
        """For each handle of a variable that an earlier input leads to as well, the index of that input."""
        first: dict[int, int] = {}
        found: dict[int, int] = {}
        for at, own in enumerate(positions):
            if own is not None and self._is_handle(own):
                known = first.setdefault(id(self._inputs[own]), at)
                if known != at:
                    found[at] = known
        return found

    def _input(self, name: TensorName, position: int | None) -> ReplayInput:
        if position is None:
            return _described(str(name), InputRole.SOURCE, self._taken(name))
        if not self._is_handle(position):
            return _described(name.node, InputRole.GIVEN, self._inputs[position])
        return _described(name.node, InputRole.VARIABLE, self.variable(position))


def _described(name: str, role: InputRole, tensor: EagerTensor) -> ReplayInput:
    value: Array | NoValue = array_of(tensor)
    if isinstance(value, NoValue):
        raise TfdbgError(f"The value of {name} is not known: {value.text}")
    return ReplayInput(name, role, element_type(tensor.dtype.as_datatype_enum).name, value)
