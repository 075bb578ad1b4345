"""The cause when a tensor was not computed but came from somewhere: a feed, a variable, a constant, a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tfdbg_cli.analysis.causes import Cause
from tfdbg_cli.analysis.lineage import VARIABLE_OPS, InputSeen, Lineage, feed_name, variable_of
from tfdbg_cli.model.graph import Node

_CHECK_DATA = "Check the data before it is fed: np.isfinite(batch).all()."
_PIPELINE = frozenset({
    "IteratorGetNext", "IteratorGetNextSync", "OptionalGetValue", "QueueDequeueV2", "QueueDequeueManyV2",
    "QueueDequeueUpToV2", "ParseExample", "ParseExampleV2", "DecodeRaw", "DecodeCSV", "ReadFile",
})  # fmt: skip
_PYTHON = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc", "NumpyFunction"})


def cause_at_source(
    node: Node, inputs: Sequence[InputSeen], lineage: Lineage, bad: Callable[[InputSeen], bool]
) -> Cause | None:
    """The cause when `node` gives a value that it did not compute; None for an op that computes.

    `bad` says whether an input is itself at fault (it then had been the origin, unless it was excluded).
    """
    if any(bad(item) for item in inputs):
        return None
    fed = feed_name(node)
    if fed is not None:
        return Cause(f"Already in the input {fed}.", _CHECK_DATA)
    variable = variable_of(node, lineage)
    if variable is not None:
        what = "was already not finite when it was read" if node.op_type not in VARIABLE_OPS else "is not finite"
        return Cause(
            f"Variable {variable} {what}: an earlier run or its initializer made it so.",
            "Watch from the start with `run -f has_inf_or_nan`, or restore a checkpoint from before.",
        )
    if node.op_type == "Const":
        return Cause(
            "The constant itself holds it: the program wrote it into the graph.",
            "If it is a mask and meant so, use -1e9 instead of -inf, or look for NaN only: `origin --nan`.",
        )
    if node.op_type in _PIPELINE:
        return Cause("Already in the data that the input pipeline delivered.", "Check or filter the data set.")
    if node.op_type in _PYTHON:
        return Cause("The Python function that this op calls returned it.", "Check that function's result.")
    if node.op_type in ("_Recv", "_HostRecv"):
        return Cause("It came from another process or device, whose part of the run is not in this recording.")
    return None
