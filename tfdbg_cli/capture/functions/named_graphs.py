"""The graphs of a function and of the functions that it calls, by name."""

from __future__ import annotations

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import AtomicFunction, TfGraph
from tfdbg_cli.model.walks import depth_first


def named_graphs_below(atomic: AtomicFunction) -> dict[str, TfGraph]:
    """The FuncGraphs of `atomic` and of the functions that it calls, by their names, as far as they are kept."""
    found: dict[str, TfGraph] = {}
    for function in depth_first([atomic], compat.called_by):
        graph = compat.built_graph_of(function)
        if graph is not None:
            found.setdefault(function.name.decode(), graph)
    return found
