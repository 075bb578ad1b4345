"""Gradients that a GradientsDebugger knows, looked up in a dump."""

from __future__ import annotations

from typing import Any

from tfdbg_cli.debug_data.dumped_tensors import WatchKeyDoesNotExistInDebugDumpDirError
from tfdbg_cli.formats.dumps.listing import VALUE_OP
from tfdbg_cli.formats.messages.graph_nodes import tensor_name


def gradient_values_from_dump(grad_debugger: Any, x_tensor: Any, dump: Any) -> list[Any]:
    """The values in `dump` of the gradient with respect to `x_tensor`, one for each time that it was computed.

    Args:
        grad_debugger: a GradientsDebugger.
        x_tensor: a tensor, a variable, or the name of a tensor.
        dump: a DebugDumpDir. The list is empty when the run did not compute the gradient.

    Raises:
        LookupError: the debugger knows no gradient with respect to it.
        TypeError: `x_tensor` is something else.
        ValueError: debugger and dump are of different graphs.

    """
    if dump.python_graph is not None and grad_debugger.graph not in (None, dump.python_graph):
        raise ValueError(
            f"This GradientsDebugger instance has a graph ({grad_debugger.graph}) that differs from the graph of the "
            f"DebugDumpDir object ({dump.python_graph})."
        )
    gradient = tensor_name(grad_debugger.gradient_tensor(x_tensor).name)
    try:
        values: list[Any] = dump.get_tensors(gradient.node, gradient.slot, VALUE_OP)
    except ValueError as error:
        # The dump may be TensorFlow's own DebugDumpDir, with its own class of this name.
        if type(error).__name__ == WatchKeyDoesNotExistInDebugDumpDirError.__name__:
            return []
        raise
    return values
