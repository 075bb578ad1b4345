"""Runs whose tensors TensorFlow dumps: which ones, and where to."""

from __future__ import annotations

from tfdbg_cli.capture.chooser import chooser
from tfdbg_cli.capture.debug_options import add_debug_tensor_watch
from tfdbg_cli.capture.tf.types import RunOptions, TfGraph
from tfdbg_cli.model.decision import CaptureRequest

# The wildcard counts only beside another watch, be it of no node at all.
_NO_NODE = ("_tfdbg_no_node", 0)


def watch_everything(options: RunOptions, address: str) -> None:
    """Have a run under `options` dump every tensor to `address`."""
    for node, slot in (("*", -1), _NO_NODE):
        add_debug_tensor_watch(options, node, slot, debug_urls=[address])
    options.debug_options.reset_disk_byte_usage = True


def watch_admitted(options: RunOptions, graph: TfGraph, request: CaptureRequest, urls: list[str]) -> None:
    """Have a run of `graph` under `options` dump the tensors that `request` admits to `urls`."""
    watches = [("*", -1), _NO_NODE]
    if request.narrowed:
        admits = chooser(request).admits
        tensors = (tensor for op in graph.get_operations() for tensor in op.outputs)
        watches = [(tensor.op.name, tensor.value_index) for tensor in tensors if admits(tensor)]
    for node, slot in watches:
        add_debug_tensor_watch(options, node, slot, debug_urls=urls, tolerate_debug_op_creation_failures=True)
