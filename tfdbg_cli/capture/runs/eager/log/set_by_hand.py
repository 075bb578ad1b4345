"""Notes in a log of eager ops what `set` gave the program behind one of them (`model.given_by_set`)."""

from __future__ import annotations

from tfdbg_cli.capture.runs.eager.log.noted_ops import Noted, array_in, taken
from tfdbg_cli.capture.runs.eager.log.recent import RecentOps
from tfdbg_cli.capture.runs.eager.log.updates import ASSIGNS
from tfdbg_cli.capture.tf.compat import EagerTensor, tensor_id
from tfdbg_cli.model.given_by_set import attributes_in_place_of
from tfdbg_cli.model.graph import GIVEN_BY_SET
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.values import Array


def note_given(log: RecentOps, op: Noted, slot: int, tensor: EagerTensor) -> None:
    """Note that the program got `tensor`, by the user's word, in place of what `op` gave.

    Who reads what the op gave all the same, as a tape does, reads that.
    """
    log.set_by_hand.add(op.number)
    attributes = attributes_in_place_of(TensorName(op.name, slot))
    log.add(GIVEN_BY_SET, (), attributes, [taken(tensor)], op.stack, op.scope)


def note_assigned(log: RecentOps, op: Noted, handle: EagerTensor, tensor: EagerTensor, held: Array) -> None:
    """Note that behind `op` the user assigned `tensor` to the variable of `handle`, which `held` another value."""
    given = log.add(GIVEN_BY_SET, (), (), [taken(tensor)], op.stack, op.scope)
    log.set_by_hand.add(given.number)
    update = log.add(ASSIGNS, (handle, tensor), (), (), op.stack, op.scope)
    log.wrote(update, handle, array_in(tensor), keep=True)
    log.updates.note_before(update.number, tensor_id(handle), held)
