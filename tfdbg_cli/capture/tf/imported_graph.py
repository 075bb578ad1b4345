"""A tf.Graph of its own for the nodes of a GraphDef, in which nothing of the program is built."""

from __future__ import annotations

import tensorflow as tf

from tfdbg_cli.capture.tf.second_thread import apart
from tfdbg_cli.capture.tf.types import GraphDef, TfGraph


def imported_graph(definition: GraphDef) -> TfGraph:
    """A new graph with the nodes of `definition` under their own names, where TensorFlow infers shapes.

    Raises what TensorFlow raises where it does not take them.
    """
    graph = tf.Graph()

    def build() -> None:
        with graph.as_default():
            tf.graph_util.import_graph_def(definition, name="")

    apart(build)
    return graph
