"""What a run of a function computed before one of its ops failed: replayed without what needs that op."""

from __future__ import annotations

from tfdbg_cli.capture.functions.definition.failing_ops import failing_ops
from tfdbg_cli.capture.functions.definition.flat import flat_function
from tfdbg_cli.capture.functions.definition.flat_part import part_of
from tfdbg_cli.capture.replay.function import of_part, replay_function
from tfdbg_cli.capture.replay.registered import registered
from tfdbg_cli.capture.replay.replayed import Replayed
from tfdbg_cli.model.replay import ReplaySpec

_ATTEMPTS = 8  # ops that may fail one after the other before the values before them are given up
_FAILED = "The run failed again; the values are those of the ops that come before {op}."


def replay_until_failure(replay_spec: ReplaySpec, room: int | None = None) -> Replayed:
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
    with registered(replay_spec) as (root, _, _):
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
        part = part_of(flat, name, returns, with_effects=True, only_before=True)
        return of_part(replay_spec, flat, part, {})
