"""Replays that keep the order of the first run: what it read of a variable that it also updates is fed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from tfdbg_cli.capture.sessions.call_names import fed
from tfdbg_cli.capture.sessions.call_state import CallState, UsedVariable
from tfdbg_cli.capture.sessions.exact.run_effect import RunEffect
from tfdbg_cli.capture.sessions.extended.call_checks import call_kind, reached_by
from tfdbg_cli.capture.sessions.holders import HANDING_ON, held_by
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.reach import KINDS, nests_of
from tfdbg_cli.capture.sessions.unordered import marks_before
from tfdbg_cli.capture.tf.memo import Memos
from tfdbg_cli.capture.tf.types import Op, TfGraph
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.ops.control_flow import OUTSIDE
from tfdbg_cli.ops.kinds import RESHAPES


def pinned(
    replay_spec: ReplaySpec, invocation: Invocation, state: CallState, outcome: RunEffect
) -> Iterator[ReplaySpec]:
    """Variants of `replay_spec`, one for each likely order, in which reads of variables that the run updates are fed.

    A read whose value the program fetched is known. Of all others it is assumed that they came before the updates, or
    else that they came after them, unless the graph says which.
    """
    fed_names = frozenset(fed(invocation.feeds))
    before = replay_spec.held
    reads = _reads_of(invocation, state, fed_names)
    known = _known(invocation.session.graph, [read for read, _, _ in reads], outcome, fed_names)
    tried: list[tuple[bool, ...]] = []
    for late in (False, True):
        choice = tuple(late and not certain for read, _, certain in reads if read.name not in known)
        if choice in tried:
            continue
        tried.append(choice)
        inputs = []
        for read, variable, certain in reads:
            value = outcome.variables.get(variable.name) if late and not certain else before.get(variable.name)
            value = known.get(read.name, value)
            if value is not None and not isinstance(value, NoValue):
                name = read.outputs[0].name
                inputs.append(ReplayInput(name, InputRole.SOURCE, variable.dtype.name, value))
        if inputs:
            # TensorFlow does not run what only a fed read depends on, such as updates: so these are fetched as well.
            fetches = (*replay_spec.fetches, *_updating(state))
            yield replace(replay_spec, fetches=fetches, inputs=(*replay_spec.inputs, *inputs))


_Reads: TypeAlias = Sequence[tuple[Op, UsedVariable, bool]]
_READS: Memos[_Reads] = Memos(keep=KINDS)


def _reads_of(invocation: Invocation, state: CallState, fed_names: frozenset[str]) -> _Reads:
    """What `_reads` gives, found out once for calls of one kind."""

    def found_out() -> _Reads:
        return tuple(_reads(reached_by(invocation).order, state, fed_names))

    return _READS.of(invocation.session.graph, call_kind(invocation), found_out)


def _updating(state: CallState) -> list[str]:
    """The names of the ops that write variables, or come after those that do in loops and branches."""
    outside = {op.name for op in state.outside}
    ops = [op for one in state.written for op in (one.writers if one.after is None else one.after)]
    return [name for name in dict.fromkeys(op.name for op in ops) if name not in outside]


def _reads(
    order: Sequence[Op], state: CallState, fed_names: frozenset[str]
) -> Iterator[tuple[Op, UsedVariable, bool]]:
    """The ops that give the value of a variable that the call writes, and do not come after an update of it.

    Each with the variable, and whether it certainly comes before all updates. Reads in loops and branches of version
    1 are left out, since a fed value would not belong to one turn or to the branch.
    """
    written = {variable.name: variable for variable in state.written}
    nests = nests_of(order, fed_names)
    reads = [
        (op, written[name])
        for op in order
        for name in _read_by(op, fed_names)
        if name in written and nests[op.name] == OUTSIDE
    ]
    marked = {op.name for op, _ in reads} | {op.name for one in state.written for op in one.writers}
    marks = {name: 1 << at for at, name in enumerate(sorted(marked))}
    before = marks_before(order, marks, fed_names)
    for op, variable in reads:
        if not any(before[op.name] & marks[writer.name] for writer in variable.writers):
            certain = all(before[writer.name] & marks[op.name] for writer in variable.writers)
            yield op, variable, certain


def _read_by(op: Op, fed_names: frozenset[str]) -> list[str]:
    """The name of the variable that `op` reads, if that is all it does; else nothing."""
    if not op.inputs or not op.outputs or op.outputs[0].name in fed_names:
        return []
    if op.type == "ReadVariableOp":
        return [holder.name for _, holder in held_by(op, fed_names)[0]]
    return [op.inputs[0].op.name] if op.type == "Identity" and not op.inputs[0].op.inputs else []


def _known(graph: TfGraph, reads: Sequence[Op], outcome: RunEffect, fed_names: frozenset[str]) -> Mapping[str, Array]:
    """What `reads` gave, by name, as far as the program fetched it."""
    names = {read.name for read in reads if read.type == "ReadVariableOp"}  # other reads share the variable's memory
    found: dict[str, Array] = {}
    for name, value in outcome.fetched.items():
        tensor = graph.as_graph_element(name)
        while tensor.name not in fed_names and tensor.op.name not in names and tensor.op.type in _SAME:
            tensor = tensor.op.inputs[0]
        if tensor.op.name in names and tensor.name not in fed_names and not isinstance(value, NoValue):
            found[tensor.op.name] = value
    return found


_SAME = HANDING_ON - RESHAPES
