"""Why a value that an op was given is not known."""

from __future__ import annotations

from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.dtypes import HANDLES
from tfdbg_cli.model.graph import GraphKind, Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.ops.kinds import INPUTS


def why_unseen(run: Run, node: Node | None) -> str:
    """Why nothing is known of what `node` gave in `run`, in a few words."""
    if node is None:
        return "not in this graph"
    if run.error is not None and run.call.kind is RunKind.FUNCTION:
        return "not given back, since the call failed"
    if node.op_type == "Const":
        return "a constant, not captured"
    if node.op_type in INPUTS:
        return "a handle, which has no numbers" if _is_of_handle(node) else "fed, its value was not kept"
    if run.graph.kind is GraphKind.PYTHON:
        return "not captured (not needed, or left out)"
    return "not captured (folded by the optimizer, or left out)"


def _is_of_handle(node: Node) -> bool:
    """Whether what is given from outside is a handle, such as the one of an iterator."""
    return node.attributes.get("dtype") in HANDLES
