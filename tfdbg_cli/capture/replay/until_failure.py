"""What a run of a function computed before one of its ops failed: made again without what needs that op."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import tensorflow as tf

from tfdbg_cli.capture.functions.definition.called_functions import with_called
from tfdbg_cli.capture.functions.definition.failing_ops import failing_ops
from tfdbg_cli.capture.functions.definition.flat import FlatFunction, flat_function
from tfdbg_cli.capture.replay.function import (
    FunctionDetails,
    registered,
    renamed,
    repeat_function,
    root_of,
)
from tfdbg_cli.capture.replay.repeated import Repeated
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.repetition import Repetition

_ATTEMPTS = 8  # ops that may fail one after the other before the values before them are given up
_FAILED = "The run failed again; the values are those of the ops that come before {op}."


def repeat_until_failure(repetition: Repetition, room: int | None = None) -> Repeated:
    """As `repeat_function`; of a run that fails all values that do not need the op that fails."""
    whole = repeat_function(repetition, room)
    lost: set[str] = set()
    failure = whole.error
    for _ in range(_ATTEMPTS):
        part = None if failure is None or failure.node is None else _part(repetition, failure.node, lost)
        if part is None or failure is None:
            return whole
        again = repeat_function(part, room)
        if again.error is None:
            told = _FAILED.format(op=failure.node)
            return Repeated(again.tensors, (*whole.notes, told), whole.error)
        failure = again.error
    return whole


def _part(repetition: Repetition, failing: str, lost: set[str]) -> Repetition | None:
    """`repetition` without `failing` and what comes after it, which are added to `lost`; None if that is nothing."""
    details = FunctionDetails.unpacked(repetition.details)
    definitions, entry = renamed(repetition)
    with registered(definitions):
        root = root_of(entry, repetition.inputs, details)
        flat = flat_function(root)
        ops = failing_ops(root, failing)
        node = ops[0].place_in(flat).name if len(ops) == 1 else ""
        if not node or node in lost:
            return None
        lost |= {node} | flat.later(node)
        returns = list(_numbers(flat, lost))
        if not returns:
            return None
        name = f"{root.body.name}_until_failure"
        part = flat.definition(name, returns, with_effects=True, only_before=True)
        library = tf.compat.v1.GraphDef().library
        library.function.extend(with_called([part.definition]))
    positions = [flat.arguments.index(name) for name in part.inputs]
    return replace(
        repetition,
        graph=library.SerializeToString(deterministic=True),
        entry=part.definition.signature.name,
        inputs=tuple(repetition.inputs[position] for position in positions),
        details=_moved(details, positions).packed(),
    )


def _numbers(flat: FlatFunction, lost: set[str]) -> Iterator[TensorName]:
    """The outputs that hold numbers of the nodes that are not `lost`."""
    for node in flat.nodes.values():
        if node.scope is None or node.name in lost:
            continue
        for slot, output in enumerate(node.scope.body.outputs(node.template.name)):
            if element_type(output.dtype).numpy is not None:
                yield TensorName(node.name, slot)


def _moved(details: FunctionDetails, positions: Sequence[int]) -> FunctionDetails:
    """`details` of a function that takes only those inputs of another one that stand at `positions`."""
    place = {old: new for new, old in enumerate(positions)}
    firsts: dict[int, int] = {}
    aliases: dict[int, int] = {}
    for new, old in enumerate(positions):
        variable = details.aliases.get(old, old)
        if variable in firsts:
            aliases[new] = firsts[variable]
        else:
            firsts[variable] = new
    devices = {place[old]: device for old, device in details.devices.items() if old in place}
    return replace(details, aliases=aliases, devices=devices)
