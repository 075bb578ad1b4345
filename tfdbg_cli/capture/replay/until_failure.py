"""What a run of a function computed before one of its ops failed: replayed without what needs that op."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import tensorflow as tf

from tfdbg_cli.capture.functions.definition.called_functions import with_called
from tfdbg_cli.capture.functions.definition.failing_ops import failing_ops
from tfdbg_cli.capture.functions.definition.flat import flat_function
from tfdbg_cli.capture.replay.function import (
    FunctionDetails,
    registered,
    renamed,
    replay_function,
    root_of,
)
from tfdbg_cli.capture.replay.replayed import Replayed
from tfdbg_cli.model.replay import ReplaySpec

_ATTEMPTS = 8  # ops that may fail one after the other before the values before them are given up
_FAILED = "The run failed again; the values are those of the ops that come before {op}."


def repeat_until_failure(replay_spec: ReplaySpec, room: int | None = None) -> Replayed:
    """As `replay_function`; of a run that fails all values that do not need the op that fails."""
    whole = replay_function(replay_spec, room)
    lost: set[str] = set()
    failure = whole.error
    for _ in range(_ATTEMPTS):
        part = None if failure is None or failure.node is None else _part(replay_spec, failure.node, lost)
        if part is None or failure is None:
            return whole
        again = replay_function(part, room)
        if again.error is None:
            told = _FAILED.format(op=failure.node)
            return Replayed(again.tensors, (*whole.notes, told), whole.error)
        failure = again.error
    return whole


def _part(replay_spec: ReplaySpec, failing: str, lost: set[str]) -> ReplaySpec | None:
    """`replay_spec` without `failing` and what comes after it, which are added to `lost`; None if that is nothing."""
    details = FunctionDetails.unpacked(replay_spec.details)
    definitions, entry = renamed(replay_spec)
    with registered(definitions):
        root = root_of(entry, replay_spec.inputs, details)
        flat = flat_function(root)
        ops = failing_ops(root, failing)
        node = ops[0].place_in(flat).name if len(ops) == 1 else ""
        if not node or node in lost:
            return None
        lost |= {node} | flat.later(node)
        left = (name for node in flat.nodes.values() if node.name not in lost for name in node.outputs)
        returns = list(filter(flat.has_numbers, left))
        if not returns:
            return None
        name = f"{root.body.name}_until_failure"
        part = flat.definition(name, returns, with_effects=True, only_before=True)
        library = tf.compat.v1.GraphDef().library
        library.function.extend(with_called([part.definition]))
    positions = [flat.arguments.index(name) for name in part.inputs]
    return replace(
        replay_spec,
        graph=library.SerializeToString(deterministic=True),
        entry=part.definition.signature.name,
        inputs=tuple(replay_spec.inputs[position] for position in positions),
        details=_moved(details, positions).packed(),
    )


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
