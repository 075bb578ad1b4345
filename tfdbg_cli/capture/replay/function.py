"""Runs of graph functions made again, from a FunctionDefLibrary and the values of the inputs."""

from __future__ import annotations

import itertools
import json
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from google.protobuf.message import DecodeError

from tfdbg_cli.capture.functions.checking_edit import Wanted
from tfdbg_cli.capture.functions.compiled import compiled_copy
from tfdbg_cli.capture.functions.definition.body import Library, Source
from tfdbg_cli.capture.functions.definition.call_tree import ARGUMENT, CallPlace, CallTree, Scope
from tfdbg_cli.capture.functions.definition.called_functions import with_called
from tfdbg_cli.capture.functions.definition.flat import FlatDefinition, FlatFunction
from tfdbg_cli.capture.functions.definition.mergeable import SAME, is_shown
from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.functions.exact.comparison import compared
from tfdbg_cli.capture.functions.instrumented import Instrumented, Outcome
from tfdbg_cli.capture.functions.scopes import skipped_attributes
from tfdbg_cli.capture.functions.twins import has_twin
from tfdbg_cli.capture.replay.replayed import Replayed
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.op_errors import run_error
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import EagerTensor, FunctionDef
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import RESOURCE, element_type_named
from tfdbg_cli.model.names import TensorName, parse_tensor_name
from tfdbg_cli.model.replay import ReplayInput, ReplaySpec, Role

_SERIAL = itertools.count(900_001)
_DETAILS = "function"
_GONE = np.zeros(())  # in place of values that nobody needs any more
_ROUNDS = 4


@dataclass(frozen=True)
class FunctionDetails:
    """What the replay of a function needs beside the fields of `ReplaySpec`: its `details["function"]`, in JSON.

    `places` are those of calls that stayed calls when several functions were made one. `aliases` has the positions of
    handles that mean the same variable as an earlier one, with the position of that one. `devices` are those of
    variables by position. `drawn` is the op type and the device of a source by name.
    """

    places: Mapping[str, CallPlace]
    aliases: Mapping[int, int]
    devices: Mapping[int, str]
    drawn: Mapping[str, tuple[str, str]]

    def packed(self) -> dict[str, str]:
        """As `ReplaySpec.details`."""
        places = {name: [place.own_name, *place.paths] for name, place in self.places.items()}
        found = {"places": places, "aliases": self.aliases, "devices": self.devices, "drawn": self.drawn}
        return {_DETAILS: json.dumps(found)}

    @staticmethod
    def unpacked(details: Mapping[str, str]) -> FunctionDetails:
        """From `ReplaySpec.details`.

        Raises:
            TfdbgError: they are damaged.

        """
        try:
            found = json.loads(details.get(_DETAILS, "{}"))
            return FunctionDetails(
                {
                    str(name): CallPlace(str(own), tuple(map(str, paths)))
                    for name, (own, *paths) in _of(found, "places")
                },
                {int(at): int(first) for at, first in _of(found, "aliases")},
                {int(at): str(device) for at, device in _of(found, "devices")},
                {str(name): (str(op_type), str(device)) for name, (op_type, device) in _of(found, "drawn")},
            )
        except (ValueError, TypeError, AttributeError) as error:
            raise TfdbgError("The description of the function is damaged.", hint="Make the bundle anew.") from error

    def moved(self, positions: Sequence[int | None]) -> FunctionDetails:
        """The details of a function that takes only those inputs that stand at `positions` (None: what is fed)."""
        place = {old: new for new, old in enumerate(positions) if old is not None}
        firsts: dict[int, int] = {}
        aliases: dict[int, int] = {}
        for old, new in place.items():
            first = firsts.setdefault(self.aliases.get(old, old), new)
            if first != new:
                aliases[new] = first
        devices = {place[old]: device for old, device in self.devices.items() if old in place}
        return replace(self, aliases=aliases, devices=devices)


def _of(found: Any, name: str) -> Any:
    return found.get(name, {}).items()


def replay_function(replay_spec: ReplaySpec, room: int | None = None) -> Replayed:
    """Make a run of a function again, on fresh copies of its variables. See `replayed.repeat`."""
    outcome = perform_again(replay_spec, room, Wanted.all_values)
    error = None if outcome.error is None else run_error(outcome.error)
    return Replayed(outcome.captured, outcome.notes, error)


def perform_again(replay_spec: ReplaySpec, room: int | None, wanted: Callable[[Scope], Wanted]) -> Outcome:
    """As `replay_function`, but give only the values that are `wanted` of the function, by its scope.

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
        wanted: Callable[[Scope], Wanted],
        unread: frozenset[Source] = frozenset(),
    ) -> None:
        """Rewrite the function of `replay_spec`, so that its calls give what is `wanted`.

        Values of the function itself that are `unread` are not given back, but computed from others when they are
        looked at.
        """
        self._spec = replace(replay_spec, inputs=tuple(replace(item, value=_GONE) for item in replay_spec.inputs))
        self._wanted = wanted
        self._unread = unread
        with ExitStack() as stack, INSIDE, compat.not_recording():
            self.root, self.details, _ = stack.enter_context(registered(replay_spec))
            self.root.unread = unread
            shown = _shown(replay_spec.inputs, self.details)
            self._instrumented = Instrumented(self.root, arguments=shown, wanted=wanted(self.root))
            weakref.finalize(self, stack.pop_all().close).atexit = False

    def perform(self, inputs: Sequence[EagerTensor], room: int | None) -> Outcome:
        """Call the function with `inputs`, flat eager tensors; values in branches and loops may take `room` bytes.

        Raises:
            TfdbgError: TensorFlow does not take the inputs; an error of an op of the run is none.

        """
        with INSIDE, compat.not_recording(), _refusals():
            return self._instrumented.perform(inputs, room)

    def nearer(self, inputs: Sequence[EagerTensor]) -> ReadyFunction:
        """The same function, which leaves out values whose return makes the runtime compute with other ops.

        Found by what the runtime makes of it with its values given back, and without; see `exact.comparison`.
        """
        own = len(self.root.body.returns)
        with INSIDE, compat.not_recording(), _refusals():
            plain = compiled_copy(self.root.body.name, inputs, own)
        found = self
        for _ in range(_ROUNDS if plain is not None else 0):
            with INSIDE, compat.not_recording(), _refusals():
                made = compiled_copy(found._instrumented.name, inputs, own + len(found._instrumented.types))
            assert plain is not None
            given = () if made is None else compared(plain, made, own).given
            unread = found._unread.union(_computable(self.root, found._instrumented.sources_given(given)))
            if unread == found._unread:
                break
            found = ReadyFunction(self._spec, self._wanted, unread)
        return found


def _computable(root: Scope, sources: Iterable[Source]) -> Iterator[Source]:
    """Those of `sources` that can be computed afterwards, by their op, from values that a run shows."""
    for source in sources:
        node = root.body.nodes[source.node or ""]
        if source.slot == 0 and has_twin(node) and node.name not in root.needed.hidden and node.op not in SAME:
            given = map(root.body.source, root.body.data_inputs(node))
            if all(is_shown(root, one) for one in given):
                yield source


class Registered(NamedTuple):
    """The functions of a replay, while the runtime knows them: the scope of the one that is run, and all of them."""

    root: Scope
    details: FunctionDetails
    definitions: Sequence[FunctionDef]


@contextmanager
def registered(replay_spec: ReplaySpec) -> Iterator[Registered]:
    """A context in which the runtime knows the functions of `replay_spec`, under names that nobody has.

    Raises:
        TfdbgError: TensorFlow does not take them, or what is done with them.

    """
    details = FunctionDetails.unpacked(replay_spec.details)
    definitions, entry = renamed(replay_spec)
    added: list[str] = []
    try:
        with _refusals():
            for definition in definitions:
                compat.add_function(definition)
                added.append(definition.signature.name)
            yield Registered(root_of(entry, replay_spec.inputs, details), details, definitions)
    finally:
        for name in reversed(added):
            compat.remove_function(name)


@contextmanager
def _refusals() -> Iterator[None]:
    """A context that turns what TensorFlow raises into a TfdbgError."""
    try:
        yield
    except (tf.errors.OpError, ValueError, TypeError) as error:
        raise TfdbgError(
            f"TensorFlow does not take the function or its inputs: {type(error).__name__}: {error}",
            hint="Use the version of TensorFlow that the run was made with.",
        ) from error


def renamed(replay_spec: ReplaySpec) -> tuple[list[FunctionDef], str]:
    """The functions of `replay_spec`, the called ones first, under names that nobody has; the name of the entry."""
    try:
        functions = tf.compat.v1.GraphDef.FromString(b"").library
        functions.ParseFromString(replay_spec.graph)
    except DecodeError as error:
        raise TfdbgError("The functions of the run are damaged.", hint="Make the bundle anew.") from error
    suffix = f"_{next(_SERIAL)}"
    names = {function.signature.name for function in functions.function}
    if replay_spec.entry not in names:
        raise TfdbgError(f"The function {replay_spec.entry!r} is not among those of the run.")
    for function in functions.function:
        function.signature.name += suffix
        for node in function.node_def:
            if node.op in names:
                node.op += suffix
            for value in node.attr.values():
                for called in (value.func, *value.list.func) if value.WhichOneof("value") in ("func", "list") else ():
                    if called.name in names:
                        called.name += suffix
    return list(functions.function)[::-1], replay_spec.entry + suffix


def of_part(
    replay_spec: ReplaySpec, flat: FlatFunction, part: FlatDefinition, fed: Mapping[TensorName, ReplayInput]
) -> ReplaySpec:
    """`replay_spec` that makes only `part` of its function, which is `flat` and is registered, with what is `fed`."""
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


def root_of(entry: str, inputs: Sequence[ReplayInput], details: FunctionDetails) -> Scope:
    """The scope of the function `entry`, its nodes named as in the run.

    Raises:
        TfdbgError: the runtime does not know it, or it takes other inputs.

    """
    tree = CallTree(Library(), skipped_attributes(), details.places)
    try:
        root = tree.grow(entry, [item.name for item in inputs])
    except LookupError as error:
        raise TfdbgError(f"TensorFlow does not give the definition of the function {error.args[0]!r}.") from error
    if len(root.body.arguments) != len(inputs):
        raise TfdbgError(f"The function takes {len(root.body.arguments)} inputs, and {len(inputs)} are there.")
    root.stands_for = {at: _name(item) for at, item in enumerate(inputs) if item.role is Role.SOURCE}
    return root


def _shown(inputs: Sequence[ReplayInput], details: FunctionDetails) -> list[Shown]:
    """How the inputs are shown: as arguments, or for what an op drew as the output of that op."""
    found = []
    for item in inputs:
        element = element_type_named(item.dtype)
        dtype = 0 if element is None else element.number
        if item.role is Role.SOURCE:
            op_type, device = details.drawn.get(item.name, ("", ""))
            found.append(Shown(_name(item), op_type, device, dtype))
        else:
            found.append(Shown(_name(item), ARGUMENT, "", dtype))
    return found


def _name(item: ReplayInput) -> TensorName:
    """The name of an input in the run."""
    drawn = parse_tensor_name(item.name) if item.role is Role.SOURCE else None
    return drawn or TensorName(item.name, 0)


def inputs_of(inputs: Sequence[ReplayInput], root: Scope, details: FunctionDetails) -> list[EagerTensor]:
    """The inputs as eager tensors; for a variable the handle of a fresh one."""
    found: list[EagerTensor] = []
    for position, item in enumerate(inputs):
        if item.role is Role.VARIABLE and position in details.aliases:
            first = details.aliases[position]
            if not 0 <= first < position:
                raise TfdbgError(f"The input {item.name} stands for none before it.", hint="Make the bundle anew.")
            found.append(found[first])
            continue
        element = element_type_named(item.dtype)
        if element is None:
            raise TfdbgError(f"The type of the input {item.name} is not known: {item.dtype}.")
        wanted = RESOURCE if item.role is Role.VARIABLE else element.number
        if root.body.argument_types[position] != wanted:
            raise TfdbgError(f"The function takes no {item.role} of type {item.dtype} at the place of {item.name}.")
        value = tf.constant(item.value, tf.dtypes.as_dtype(element.number))  # a copy, whoever holds the array
        found.append(
            fresh_variable(value, details.devices.get(position, "")) if item.role is Role.VARIABLE else value
        )
    return found


def fresh_variable(value: EagerTensor, device: str) -> EagerTensor:
    """The handle of a new variable with this value, on `device` if there is one."""
    known = {device.name for device in tf.config.list_logical_devices()}
    short = device[device.rfind("/device:") :]
    with tf.device(short if short in known else None):
        return compat.new_variable(value)
