"""The graphs of a function and of the functions that it calls, by name."""

from __future__ import annotations

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import AtomicFunction, TfGraph


def named_graphs_below(atomic: AtomicFunction) -> dict[str, TfGraph]:
    """The FuncGraphs of `atomic` and of the functions that it calls, by their names, as far as they are kept."""
    found: dict[str, TfGraph] = {}
    waiting, seen = [atomic], set()
    while waiting:
        function = waiting.pop()
        if function.name not in seen:
            seen.add(function.name)
            waiting.extend(compat.called_by(function))
            graph = compat.built_graph_of(function)
            if graph is not None:
                found[function.name.decode()] = graph
    return found
