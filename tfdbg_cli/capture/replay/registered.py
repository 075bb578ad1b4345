"""The functions of a replay in TensorFlow's runtime, as long as they are needed there."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import tensorflow as tf
from google.protobuf.message import DecodeError

from tfdbg_cli.capture.functions.definition.body import Library
from tfdbg_cli.capture.functions.definition.call_tree import CallTree, Scope
from tfdbg_cli.capture.functions.graph.function_tree import skipped_attributes
from tfdbg_cli.capture.replay.function_details import FunctionDetails
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import FunctionDef
from tfdbg_cli.errors import TfdbgError, reason_of
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec

_SERIAL = itertools.count(900_001)
_ALONE = "/job:localhost/replica:0/task:0"  # what TensorFlow calls a process that is no worker


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
    definitions, suffix = _renamed(replay_spec)
    operations = {
        one.signature.name: details.operations(
            one.signature.name.removesuffix(suffix), (node.name for node in one.node_def)
        )
        for one in definitions
    }
    added: list[str] = []
    try:
        with refusals():
            for definition in definitions:
                compat.add_function(definition)
                added.append(definition.signature.name)
            library = Library(lambda name: operations.get(name, ()))
            root = _root_of(replay_spec.entry + suffix, library, replay_spec.inputs, details)
            yield Registered(root, details, definitions)
    finally:
        for name in reversed(added):
            compat.remove_function(name)


@contextmanager
def refusals() -> Iterator[None]:
    """A context in which whatever TensorFlow raises, since it does not take a graph function, is a TfdbgError."""
    try:
        yield
    except (tf.errors.OpError, ValueError, TypeError) as error:
        raise TfdbgError(
            f"TensorFlow does not take the function or its inputs: {reason_of(error)}",
            hint="Use the version of TensorFlow that the run was made with.",
        ) from error


def _renamed(replay_spec: ReplaySpec) -> tuple[list[FunctionDef], str]:
    """The functions of `replay_spec`, the called ones first, with a suffix that nobody has behind their names."""
    try:
        functions = tf.compat.v1.GraphDef.FromString(b"").library
        functions.ParseFromString(replay_spec.graph)
    except DecodeError as error:
        raise TfdbgError("The functions of the run are damaged.", hint="Make the bundle anew.") from error
    suffix = f"_{next(_SERIAL)}"
    names = {function.signature.name for function in functions.function}
    if replay_spec.entry not in names:
        raise TfdbgError(f"The function {replay_spec.entry!r} is not among those of the run.")
    tasks = {device.name.partition("/device:")[0] for device in tf.config.list_logical_devices()}
    for function in functions.function:
        function.signature.name += suffix
        for node in function.node_def:
            node.device = _here(node.device, tasks)
            if node.op in names:
                node.op += suffix
            for value in node.attr.values():
                for called in (value.func, *value.list.func) if value.WhichOneof("value") in ("func", "list") else ():
                    if called.name in names:
                        called.name += suffix
    return list(functions.function)[::-1], suffix


def _here(device: str, tasks: Collection[str]) -> str:
    """`device` without its task, such as `/job:worker/replica:0/task:1`, unless this process has one of `tasks`.

    A worker of a job places its ops by its task. Whoever makes its run again is another one, or none.
    """
    task, mark, rest = device.partition("/device:")
    return f"{mark}{rest}" if task and mark and task not in tasks and task != _ALONE else device


def _root_of(entry: str, library: Library, inputs: Sequence[ReplayInput], details: FunctionDetails) -> Scope:
    """The scope of the function `entry`, its nodes named as in the run.

    Raises:
        TfdbgError: the runtime does not know it, or it takes other inputs.

    """
    tree = CallTree(library, skipped_attributes(), details.places)
    try:
        root = tree.grow(entry, [item.name for item in inputs])
    except LookupError as error:
        raise TfdbgError(f"TensorFlow does not give the definition of the function {error.args[0]!r}.") from error
    if len(root.body.arguments) != len(inputs):
        raise TfdbgError(f"The function takes {len(root.body.arguments)} inputs, and {len(inputs)} are there.")
    root.stands_for = {at: item.tensor for at, item in enumerate(inputs) if item.role is InputRole.SOURCE}
    return root
