"""Graphs of runs that another TensorFlow may have made, and what is said where this one does not take them."""

from __future__ import annotations

import tensorflow as tf

from tfdbg_cli.capture.tf.imported_graph import imported_graph
from tfdbg_cli.capture.tf.types import TfGraph
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.process.interruptions import our_errors


def imported(definition: bytes) -> TfGraph:
    """A new graph of a serialized GraphDef.

    Raises:
        TfdbgError: TensorFlow does not take it.

    """
    try:
        return imported_graph(tf.compat.v1.GraphDef.FromString(definition))
    except our_errors() as error:  # whatever protobuf and TensorFlow make of a foreign graph
        raise refused("the graph", error) from error


def refused(what: str, error: Exception) -> TfdbgError:
    """The error that says that TensorFlow does not take `what` of a run."""
    told = str(error).strip().splitlines() or [""]
    return TfdbgError(
        f"TensorFlow {tf.__version__} does not take {what} of this run: {type(error).__name__}: {told[0]}",
        hint="Try the TensorFlow version that made the run.",
        exit_code=2,
    )
