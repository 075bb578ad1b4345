"""A function's tree of calls, read from its definition and the graphs that the program made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import tensorflow as tf

from tfdbg_cli.capture.functions.definition.body import IMPLEMENTATION, Library
from tfdbg_cli.capture.functions.definition.call_tree import CallTree, Scope
from tfdbg_cli.capture.tf.types import TfGraph


def skipped_attributes() -> frozenset[str]:
    """The attributes of functions that are not entered: on a GPU Grappler exchanges those that say so for others."""
    return IMPLEMENTATION if tf.config.list_logical_devices("GPU") else frozenset[str]()


def grown(name: str, graphs: Mapping[str, TfGraph], argument_names: Iterable[str]) -> Scope:
    """The function `name` with all that it calls.

    `graphs` are the FuncGraphs of these by name, as far as they are kept, `argument_names` what a run calls the
    arguments of the function itself; with none they have the names of the definition.

    Raises:
        LookupError: the runtime does not know the function, or one that it calls, by its definition.

    """
    library = Library(lambda one: _operations(graphs.get(one)))
    return CallTree(library, skipped_attributes()).grow(name, argument_names)


def _operations(graph: TfGraph) -> frozenset[str]:
    return frozenset() if graph is None else frozenset(op.name for op in graph.get_operations())
