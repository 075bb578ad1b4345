"""The definitions of the functions that the ops of a tf.Graph may call."""

from __future__ import annotations

from tfdbg_cli.capture.tf.types import FunctionDef, TfGraph


def function_definitions(graph: TfGraph) -> dict[str, FunctionDef]:
    """The FunctionDefs of the program's functions in `graph`, by name.

    TensorFlow writes out the whole graph for that, which takes seconds where it is large: ask once.
    """
    return {one.signature.name: one for one in graph.as_graph_def().library.function}
