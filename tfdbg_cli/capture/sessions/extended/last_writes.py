"""Which ops of a call must be over before a variable holds its final value.

An op in a loop of version 1 cannot be waited for from outside of the loop, and what waits for an op in a branch that
is not taken never runs. So what is waited for is an op outside that depends on the writer: one that reads what comes
out of the loop, or the result of both branches.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from tfdbg_cli.capture.sessions.call_state import CallState
from tfdbg_cli.capture.sessions.reach import needs_of, nests_of
from tfdbg_cli.capture.tf.types import Op
from tfdbg_cli.ops.control_flow import OUTSIDE, Nest


def with_last_writes(state: CallState, order: Sequence[Op], fed_names: frozenset[str]) -> CallState:
    """`state`, of a call that runs the ops in `order`, with `Variable.after` filled in where a writer is inside."""
    if not state.written:
        return state
    nests = nests_of(order, fed_names)
    if all(nests[op.name] == OUTSIDE for variable in state.written for op in variable.writers):
        return state
    variables = (
        replace(one, after=_over(one.writers, order, fed_names, nests)) if one.writers else one
        for one in state.variables
    )
    return replace(state, variables=tuple(variables))


def _over(
    writers: Sequence[Op], order: Sequence[Op], fed_names: Collection[str], nests: Mapping[str, Nest]
) -> tuple[Op, ...]:
    """Ops to wait for so that all `writers` are over, each once; empty if there are none for some writer."""
    found: dict[str, Op] = {}
    for writer in writers:
        ends = [writer] if nests[writer.name] == OUTSIDE else _ways_out(writer, order, fed_names, nests)
        if not ends:
            return ()
        found.update((op.name, op) for op in ends)
    return tuple(found.values())


def _ways_out(writer: Op, order: Sequence[Op], fed_names: Collection[str], nests: Mapping[str, Nest]) -> list[Op]:
    """The first ops outside of all loops and branches on each path of dependents from `writer`."""
    inside = {writer.name}
    ends: dict[str, Op] = {}
    while True:
        before = len(inside)
        for op in order:
            if op.name in inside or op.name in ends:
                continue
            if not any(need.name in inside for need in needs_of(op, fed_names)):
                continue
            if nests[op.name] == OUTSIDE:
                ends[op.name] = op
            else:
                inside.add(op.name)
        if len(inside) == before:  # if not, look again: the way back of a loop stands behind its readers in `order`
            return list(ends.values())
