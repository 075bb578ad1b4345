"""Graphs of runs that another TensorFlow may have made, and what is said where this one does not take them."""

from __future__ import annotations

import tensorflow as tf

from tfdbg_cli.capture.tf.types import TfGraph
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.process.interruptions import our_errors


def imported(definition: bytes) -> TfGraph:
    """A new graph of a serialized GraphDef.

    Raises:
        TfdbgError: TensorFlow does not take it.

    """
    graph = tf.Graph()
    try:
        with graph.as_default():
            tf.graph_util.import_graph_def(tf.compat.v1.GraphDef.FromString(definition), name="")
    except our_errors() as error:  # whatever protobuf and TensorFlow make of a foreign graph
        raise refused("the graph", error) from error
    return graph


def refused(what: str, error: Exception) -> TfdbgError:
    """The error that says that TensorFlow does not take `what` of a run."""
    told = str(error).strip().splitlines() or [""]
    return TfdbgError(
        f"TensorFlow {tf.__version__} does not take {what} of this run: {type(error).__name__}: {told[0]}",
        hint="Try the TensorFlow version that made the run.",
        exit_code=2,
    )
