"""Reads what ops drew after all else in the run is over, so that the reading does not change the order of other ops.

Of ops that become ready at the same time, TensorFlow's executor hands the costly ones to other threads. A further
reader among them changes which op runs on which thread, and so which one wins a race. A reader that waits for the
last ops of the run becomes ready together with none of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from tfdbg_cli.capture.sessions.hidden_ops import HiddenOps, NewOp
from tfdbg_cli.capture.sessions.reach import needs_of, nests_of
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor
from tfdbg_cli.ops.control_flow import OUTSIDE


def late_reads(
    hidden: HiddenOps,
    tensors: Iterable[SymbolicTensor],
    order: Sequence[Op],
    fed_names: frozenset[str],
    fetched: Collection[str],
) -> list[SymbolicTensor]:
    """Hidden copies of `tensors`, in their order; a tensor that the program fetches anyway is returned itself.

    Args:
        hidden: the hidden ops of the graph.
        tensors: none of them in a loop or a branch.
        order: the ops of the call, inputs first.
        fed_names: tensors whose ops do not run.
        fetched: the names of the tensors that the program fetches.

    """
    wanted = list(tensors)
    missing = [tensor for tensor in wanted if tensor.name not in fetched]
    if not missing:
        return wanted
    (over,) = hidden.add([NewOp("NoOp", after=last_of(order, fed_names))])
    copies = hidden.add(
        [
            NewOp("Identity", [tensor], {"T": tensor.dtype.base_dtype}, (over,), tensor.op.device, behind=True)
            for tensor in missing
        ]
    )
    late = {tensor.name: copy.outputs[0] for tensor, copy in zip(missing, copies, strict=True)}
    return [late.get(tensor.name, tensor) for tensor in wanted]


def last_of(order: Sequence[Op], fed_names: frozenset[str]) -> list[Op]:
    """The ops of `order`, inputs first, on which no other of them depends, without those in loops and branches.

    In a branch that is not taken an op does not run, and what waited for it would not run either.
    """
    waited_for = {need.name for op in order for need in needs_of(op, fed_names)}
    nests = nests_of(order, fed_names)
    return [op for op in order if op.name not in waited_for and nests[op.name] == OUTSIDE]
