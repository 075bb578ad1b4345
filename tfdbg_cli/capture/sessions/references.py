"""Tensors that share memory with a variable of the old kind (`use_resource=False`), and the values that they had.

An update in the same run overwrites such a tensor before anybody can look at it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from tfdbg_cli.capture.sessions.call_state import CallState, UsedVariable
from tfdbg_cli.capture.sessions.holders import HANDING_ON, held_by, holder_of
from tfdbg_cli.capture.sessions.reach import ancestors
from tfdbg_cli.capture.sessions.unordered import Held, marks_before
from tfdbg_cli.capture.tf.opaque import is_reference
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor
from tfdbg_cli.model.values import Array


def read_before_updates(order: Iterable[Op], state: CallState, fed_names: Collection[str]) -> dict[str, UsedVariable]:
    """The tensors that hold the value of a variable from before the run: by name, with the variable.

    Args:
        order: the ops of the call, inputs first.
        state: what they use; only variables of the old kind that the call writes are of interest.
        fed_names: tensors whose ops are not asked.

    """
    found = {variable.tensor.name: variable for variable in state.written if variable.reference}
    if not found:
        return {}
    holders = set(found)
    order = list(order)
    writing = dict.fromkeys(op.name for variable in found.values() for op in variable.writers)
    marks = {name: 1 << at for at, name in enumerate(writing)}
    before = marks_before(order, marks, fed_names)
    for op in order:
        given = op.inputs[0].name if op.type in HANDING_ON else ""
        variable = found.get(given)
        if variable is None or op.outputs[0].name in fed_names:
            continue
        if not any(before[op.name] & marks[writer.name] for writer in variable.writers):
            found[op.outputs[0].name] = variable
    return {name: variable for name, variable in found.items() if name not in holders}


def values_of_references(
    tensors: Iterable[SymbolicTensor], before: Mapping[str, Array], after: Mapping[str, Array]
) -> dict[str, Array]:
    """The values of those of `tensors` that are references to variables, by name, as far as they can be told.

    `before` and `after` are what the variables held before and after the run, by the names of their ops. The op that
    holds a variable gave its value from before the run, and the op that wrote it last what it holds after.
    """
    references = [tensor for tensor in tensors if is_reference(tensor)]
    writers: dict[str, list[SymbolicTensor]] = {}
    found: dict[str, Array] = {}
    for tensor in references:
        if not len(tensor.op.inputs):
            if tensor.op.name in before:
                found[tensor.name] = before[tensor.op.name]
            continue
        for holder in {holder.name: holder for _, holder in held_by(tensor.op, frozenset())[0]}:
            writers.setdefault(holder, []).append(tensor)
    for holder, given in writers.items():
        # Of several writers only one that depends on all others is known to be the last. An op that writes several
        # variables, as ApplyAdam does, gives the first of them.
        for tensor in given if holder in after else ():
            if holder_of(tensor, frozenset()).name != holder:
                continue
            needs = {op.name for op in ancestors([tensor.op], ())} if len(given) > 1 else {tensor.op.name}
            if all(one.op.name in needs for one in given) and tensor.op.inputs[0].dtype == tensor.dtype:
                found[tensor.name] = after[holder]
    return found


def sharing(order: Iterable[Op], state: CallState, fed_names: frozenset[str]) -> dict[str, str]:
    """The tensors that share the memory of a variable which the call writes: by name, with that of the variable."""
    writers = {variable.name: variable.writers for variable in state.written if variable.reference}
    if not writers:
        return {}
    return {f"{op}:0": holder for op, holder in Held(order, writers, fed_names).sharing.items()}
