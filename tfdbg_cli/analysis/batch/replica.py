"""Which replica of a `tf.distribute` strategy a batch was given to, of those that share a step."""

from __future__ import annotations

from tfdbg_cli.analysis.graph.making.handed_on import handed_on
from tfdbg_cli.analysis.graph.nodes.membership import membership_of
from tfdbg_cli.model.names import tensor_name_of
from tfdbg_cli.model.runs import Run


def replica_given(run: Run, source: str) -> int | None:
    """The replica, counted from 0, that the batch which came in as `source` was given to alone.

    None where there is one alone, where several were given it, and where that is not known.
    """
    if not any("replica_" in name for name in run.graph.names()):  # this is quick, and most runs have none
        return None
    node = tensor_name_of(source).node
    membership = membership_of(run)
    if (known := membership.replica.get(node)) is not None or not membership.replicas:
        return known
    # A conditional may hand the batches of all replicas on, and so belongs to all: those who read what it gave tell.
    takers = {
        number
        for name, number in membership.replica.items()
        if (reader := run.graph.find(name)) is not None
        for tensor in reader.inputs
        if tensor.node not in membership.replica and any(one.node == node for one in handed_on(run.graph, tensor))
    }
    return takers.pop() if len(takers) == 1 else None
