"""The graphs and the scopes of a function and of the functions that it calls, found once."""

from __future__ import annotations

import tensorflow as tf

from tfdbg_cli.capture.functions.arguments import slots_of
from tfdbg_cli.capture.functions.definition.body import IMPLEMENTATION, Library
from tfdbg_cli.capture.functions.definition.call_tree import CallTree, Scope
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import AtomicFunction, ConcreteFunction, TfGraph
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.walks import depth_first


def scope_of(concrete: ConcreteFunction) -> Scope:
    """The calls below `concrete` (a ConcreteFunction), with the names of nodes in its runs; kept with its function.

    Raises:
        TfdbgError: the runtime does not know the function by its definition.

    """
    return _SCOPES.of(compat.atomic_of(concrete))


def skipped_attributes() -> frozenset[str]:
    """The attributes of functions that are not entered: on a GPU Grappler exchanges those that say so for others."""
    return IMPLEMENTATION if tf.config.list_logical_devices("GPU") else frozenset[str]()


def _grown(atomic: AtomicFunction) -> Scope:
    try:
        graphs = named_graphs_below(atomic)
        library = Library(lambda name: _operations(graphs.get(name)))
        return CallTree(library, skipped_attributes()).grow(atomic.name.decode(), _argument_names(atomic))
    except LookupError as error:
        raise TfdbgError(
            f"TensorFlow does not give the definition of the function {error.args[0]!r}.",
            hint="Debug a function that calls it.",
        ) from error


def _operations(graph: TfGraph) -> frozenset[str]:
    return frozenset() if graph is None else frozenset(op.name for op in graph.get_operations())


def _argument_names(atomic: AtomicFunction) -> tuple[str, ...]:
    """The names of the placeholders, and of captured variables their own; none when no graph tells them."""
    graph = compat.built_graph_of(atomic)
    if graph is None:
        return ()
    return tuple(slot.argument.name for slot in slots_of(graph))


_SCOPES = Memo(_grown)


def named_graphs_below(atomic: AtomicFunction) -> dict[str, TfGraph]:
    """The FuncGraphs of `atomic` and of the functions that it calls, by their names, as far as they are kept."""
    found: dict[str, TfGraph] = {}
    for function in depth_first([atomic], compat.called_by):
        graph = compat.built_graph_of(function)
        if graph is not None:
            found.setdefault(function.name.decode(), graph)
    return found
