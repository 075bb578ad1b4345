"""What the op that failed in a session was given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tfdbg_cli.capture.functions.definition.failing_ops import FailingOp, failing_ops
from tfdbg_cli.capture.sessions.call_names import fed
from tfdbg_cli.capture.sessions.extended.call_checks import reached_by
from tfdbg_cli.capture.sessions.fetched_tensors import fetched_array, store_of
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.reach import ancestors, reach
from tfdbg_cli.capture.sessions.wrapped_call import GraphFunctions, called_roots
from tfdbg_cli.capture.tf.opaque import is_opaque
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import SymbolicTensor, TfGraph
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.runs import Run
from tfdbg_cli.ops.kinds import PLACEHOLDERS
from tfdbg_cli.process.interruptions import our_errors

_UNKNOWN = "The op {} is not in the program's graph, so its inputs are not known."
_AMBIGUOUS = "Several ops of this run are called {}, so it is not known which one failed: {}."
_INSIDE = (
    "It is in a function that the run calls. What it was given ({}) is known of a run that is captured (`run`) or "
    "watched, where that can be made again."
)
_MOST_NAMED = 3


def with_inputs(run: Run, invocation: Invocation) -> Run:
    """`run`, which failed, with the values that its failing op was given.

    Those that were dumped are there already. The others are computed again if that changes nothing: if all they
    come from are feeds, variables and ops without state. Else the error says why they are missing.
    """
    if run.error is None or run.error.node is None:
        return run
    graph = invocation.session.graph
    try:
        op = graph.get_operation_by_name(run.error.node)
    except (KeyError, ValueError):
        return _inside_call(run, invocation, run.error)
    feeds = fed(invocation.feeds)
    missing = [tensor for tensor in op.inputs if not run.tensors.named(tensor.op.name, tensor.value_index)]
    if len(run.tensors):
        names = ", ".join(tensor.name for tensor in missing if tensor.name not in feeds)
        return _noted(run, f"Not dumped, since TensorFlow folded or replaced it: {names}.") if names else run
    if not missing:
        return run
    reason = _why_not_again(graph, missing, feeds)
    if reason:
        return _noted(run, reason)
    try:
        with INSIDE:
            given = {graph.as_graph_element(name): value for name, value in feeds.items()}
            values = invocation.session.run(missing, feed_dict=given)
    except our_errors() as error:  # an uninitialized variable, most of the time
        return _noted(run, f"The inputs could not be computed again: {type(error).__name__}.")
    arrays = {tensor.ref(): fetched_array(value) for tensor, value in zip(missing, values, strict=True)}
    again = "The inputs were computed again after the error, from the feeds and the variables as they are now."
    return replace(_noted(run, again), tensors=store_of(arrays))


def _inside_call(run: Run, invocation: Invocation, error: RunError) -> Run:
    """`run`, whose failing op is in a function that the run calls, with its name there."""
    reached = reached_by(invocation)
    functions = GraphFunctions(invocation.session.graph, as_written=True)
    roots = called_roots(reached.order if reached.calls else (), functions).values()
    found = [op for root in roots for op in failing_ops(root, error.node or "")]
    if len(found) > 1:
        found = [op for op in found if _failed_here(run, op)] or found
    if not found:
        return _noted(run, _UNKNOWN.format(error.node))
    if len(found) > 1:
        return _noted(run, _AMBIGUOUS.format(error.node, " and ".join(op.name for op in found[:_MOST_NAMED])))
    [op] = found
    run = replace(run, error=replace(error, node=op.name))
    missing = [name for name in op.given if not run.tensors.named(name.node, name.slot)]
    return _noted(run, _INSIDE.format(", ".join(map(str, missing)))) if missing else run


def _failed_here(run: Run, op: FailingOp) -> bool:
    """Whether `op` was given something oftener than it gave anything itself."""
    given = (len(run.tensors.named(name.node, name.slot)) for name in op.given)
    return max(given, default=0) > len(run.tensors.named(op.name))


def _noted(run: Run, note: str) -> Run:
    assert run.error is not None
    return replace(run, error=replace(run.error, inputs_note=note))


def _why_not_again(graph: TfGraph, tensors: list[SymbolicTensor], feeds: Mapping[str, Any]) -> str:
    """Why `tensors` are not computed again; empty when they can be."""
    ends = [tensor.op for tensor in tensors if tensor.name not in feeds]
    reached = reach(graph, ends, feeds)
    fetchable = {tensor.name for tensor in reached.tensors}
    for tensor in tensors:
        if tensor.name not in fetchable and tensor.name not in feeds:
            return f"The input {tensor.name} is in a loop or a branch and cannot be fetched."
        if is_opaque(tensor):
            return f"The input {tensor.name} is a handle or a reference and holds no numbers."
    if reached.stateful is not None:
        op = reached.stateful
        return f"The inputs come from {op.name} ({op.type}), which may change something when run again."
    for op in ancestors(ends, feeds):
        if op.type in PLACEHOLDERS and f"{op.name}:0" not in feeds:
            return f"The placeholder {op.name} was not fed."
    return ""
