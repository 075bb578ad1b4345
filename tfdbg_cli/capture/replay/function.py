"""Runs of graph functions made again, from a FunctionDefLibrary and the values of the inputs."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.functions.calling.instrumented import CallResult, Instrumented
from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.definition.body import ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import ARGUMENT, Scope
from tfdbg_cli.capture.functions.definition.called_functions import with_called
from tfdbg_cli.capture.functions.definition.flat import FlatFunction
from tfdbg_cli.capture.functions.definition.flat_part import FlatDefinition
from tfdbg_cli.capture.functions.definition.mergeable import SAME, is_shown
from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.functions.exact.comparison import compared
from tfdbg_cli.capture.functions.optimized.compiled import compiled_copy
from tfdbg_cli.capture.functions.optimized.twins import has_twin
from tfdbg_cli.capture.replay.function_details import FunctionDetails
from tfdbg_cli.capture.replay.registered import refusals, registered
from tfdbg_cli.capture.replay.replayed import Replayed
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.op_errors import run_error
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import RESOURCE, element_type_named
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec

_GONE = np.zeros(())  # in place of values that nobody needs any more
_ROUNDS = 4


def replay_function(replay_spec: ReplaySpec, room: int | None = None) -> Replayed:
    """Make a run of a function again, on fresh copies of its variables. See `any_replay.replay`."""
    outcome = replay_wanted(replay_spec, room, WantedRewrite.all_values)
    error = None if outcome.error is None else run_error(outcome.error)
    return Replayed(outcome.captured, outcome.notes, error)


def replay_wanted(replay_spec: ReplaySpec, room: int | None, wanted: Callable[[Scope], WantedRewrite]) -> CallResult:
    """As `replay_function`, but return only the values for which `wanted(scope)` asks, with the function's scope.

    Raises:
        TfdbgError: TensorFlow does not take the function or the inputs; an error of an op of the run is none.

    """
    ready = ReadyFunction(replay_spec, wanted)
    return ready.perform(inputs_of(replay_spec.inputs, ready.root, ready.details), room)


class ReadyFunction:
    """The function of a replay, made ready once to be called with any inputs of its kind.

    Raises:
        TfdbgError: TensorFlow does not take the function.

    """

    def __init__(
        self,
        replay_spec: ReplaySpec,
        wanted: Callable[[Scope], WantedRewrite],
        unread: frozenset[ReferenceTarget] = frozenset(),
    ) -> None:
        """Rewrite the function of `replay_spec`, so that its calls give what is `wanted`.

        Values of the function itself that are `unread` are not returned, but computed when somebody looks.
        """
        self._spec = replace(replay_spec, inputs=tuple(replace(item, value=_GONE) for item in replay_spec.inputs))
        self._wanted = wanted
        self._unread = unread
        with ExitStack() as stack, own_ops():
            self.root, self.details, _ = stack.enter_context(registered(replay_spec))
            self.root.unread = unread
            shown = _shown(replay_spec.inputs, self.details)
            self._instrumented = Instrumented(self.root, arguments=shown, wanted=wanted(self.root))
            weakref.finalize(self, stack.pop_all().close).atexit = False

    def perform(self, inputs: Sequence[EagerTensor], room: int | None) -> CallResult:
        """Call the function with `inputs`, flat eager tensors; values in branches and loops may take `room` bytes.

        Raises:
            TfdbgError: TensorFlow does not take the inputs; an error of an op of the run is none.

        """
        with own_ops(), refusals():
            return self._instrumented.perform(inputs, room)

    def nearer(self, inputs: Sequence[EagerTensor]) -> ReadyFunction:
        """The same function without returning values whose return makes the runtime use other ops; maybe itself.

        They are found by comparing what the runtime makes of the function with that of the plain one.
        """
        with own_ops(), refusals():
            plain = compiled_copy(self.root.body.name, inputs)
        found = self
        for _ in range(_ROUNDS if plain is not None else 0):
            with own_ops(), refusals():
                made = compiled_copy(found._instrumented.name, inputs)
            assert plain is not None
            given = () if made is None else compared(plain, made, len(self.root.body.returns)).given
            unread = found._unread.union(_computable(self.root, found._instrumented.sources_given(given)))
            if unread == found._unread:
                break
            found = ReadyFunction(self._spec, self._wanted, unread)
        return found


def _computable(root: Scope, sources: Iterable[ReferenceTarget]) -> Iterator[ReferenceTarget]:
    """Those of `sources` that can be computed afterwards from values that a run shows, by running their op."""
    for source in sources:
        node = root.body.nodes[source.node or ""]
        if source.slot == 0 and has_twin(node) and node.name not in root.needed.hidden and node.op not in SAME:
            given = map(root.body.source, root.body.data_inputs(node))
            if all(is_shown(root, one) for one in given):
                yield source


def of_part(
    replay_spec: ReplaySpec, flat: FlatFunction, part: FlatDefinition, fed: Mapping[TensorName, ReplayInput]
) -> ReplaySpec:
    """A ReplaySpec that makes only `part` of the function of `replay_spec`, with inputs for what is `fed`.

    `flat` is that function; the runtime must know it.
    """
    library = tf.compat.v1.GraphDef().library
    library.function.extend(with_called([part.definition]))
    places = {name: at for at, name in enumerate(flat.arguments)}
    positions = [places.get(name) for name in part.inputs]
    details = FunctionDetails.unpacked(replay_spec.details).moved(positions)
    ops = {str(name): (flat.nodes[name.node].op_type, flat.nodes[name.node].device) for name in fed}
    return replace(
        replay_spec,
        graph=library.SerializeToString(deterministic=True),
        entry=part.definition.signature.name,
        inputs=tuple(
            fed[name] if own is None else replay_spec.inputs[own]
            for name, own in zip(part.inputs, positions, strict=True)
        ),
        details=replace(details, drawn={**details.drawn, **ops}).packed(),
    )


def _shown(inputs: Sequence[ReplayInput], details: FunctionDetails) -> list[Shown]:
    """How the inputs are shown: as arguments, or for what an op drew as the output of that op."""
    found = []
    for item in inputs:
        element = element_type_named(item.dtype)
        dtype = 0 if element is None else element.number
        if item.role is InputRole.SOURCE:
            op_type, device = details.drawn.get(item.name, ("", ""))
            found.append(Shown(item.tensor, op_type, device, dtype))
        else:
            found.append(Shown(item.tensor, ARGUMENT, "", dtype))
    return found


def inputs_of(inputs: Sequence[ReplayInput], root: Scope, details: FunctionDetails) -> list[EagerTensor]:
    """The inputs as eager tensors; for a variable the handle of a fresh one."""
    found: list[EagerTensor] = []
    for position, item in enumerate(inputs):
        if item.role is InputRole.VARIABLE and position in details.aliases:
            first = details.aliases[position]
            if not 0 <= first < position:
                raise TfdbgError(f"The input {item.name} stands for none before it.", hint="Make the bundle anew.")
            found.append(found[first])
            continue
        element = element_type_named(item.dtype)
        if element is None:
            raise TfdbgError(f"The type of the input {item.name} is not known: {item.dtype}.")
        wanted = RESOURCE if item.role is InputRole.VARIABLE else element.number
        if root.body.argument_types[position] != wanted:
            raise TfdbgError(f"The function takes no {item.role} of type {item.dtype} at the place of {item.name}.")
        value = tf.constant(item.value, tf.dtypes.as_dtype(element.number))  # a copy, whoever holds the array
        found.append(
            fresh_variable(value, details.devices.get(position, "")) if item.role is InputRole.VARIABLE else value
        )
    return found


def fresh_variable(value: EagerTensor, device: str) -> EagerTensor:
    """The handle of a new variable with this value, on `device` if there is one."""
    known = {device.name for device in tf.config.list_logical_devices()}
    short = device[device.rfind("/device:") :]
    # Where there is one device none need be chosen: on a chosen one a variable takes twice as long.
    chosen = nullcontext() if len(known) == 1 else tf.device(short if short in known else None)
    with own_ops(), chosen:  # its ops are none of the program's
        return compat.new_variable(value)
