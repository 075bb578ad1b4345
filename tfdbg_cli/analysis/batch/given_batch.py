"""The batch that a run was given, whether or not something in it is bad."""

from __future__ import annotations

from collections import Counter

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.graph.flow.deliveries import delivers
from tfdbg_cli.analysis.graph.nodes.feeds import given_arrays
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import NoValue


def given_batch(run: Run) -> BatchRows | None:
    """The batch of a run, none of whose rows is called bad; None where the run shows none.

    What was fed or given as arguments, of that many rows as most of it has; else what the input pipeline delivered
    first.
    """
    lengths = {name: len(array) for name, array in given_arrays(run).items() if array is not None and array.ndim}
    counted = Counter(length for length in lengths.values() if length > 1)
    if counted:
        size = counted.most_common(1)[0][0]
        return BatchRows((), next(name for name, length in lengths.items() if length == size), size)
    for node in run.graph:
        for row in run.tensors.named(node.name) if delivers(run.graph, node) else ():
            value = run.tensors.value(row)
            if not isinstance(value, NoValue) and value.ndim and len(value) > 1:
                return BatchRows((), str(run.tensors[row].name), len(value))
    return None
