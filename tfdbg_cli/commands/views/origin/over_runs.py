"""How what overflowed at an origin had grown from run to run, where runs before it are there."""

from __future__ import annotations

from tfdbg_cli.analysis.origin.growth import comes_of_size, largest_in, overflows
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.commands.context import Context
from tfdbg_cli.document.summary import number_text
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.ops.effects import updates_variable

_RUNS_ASKED = 5  # the run looked at among them
_RUNS_NEEDED = 3
_GROWN = 1.5  # what has become so many times as large in these runs grows


def growth_over_runs(context: Context, origin: Origin) -> str:
    """How the largest input of `origin` grew over the last runs of its function, and what helps; empty if it did not.

    An overflow alone is asked: what eager ops gave has another name in each run, and is not. What helps a training is
    said of a run that writes variables.
    """
    run = context.run
    if context.stepper or run.call.kind is RunKind.EAGER or not (overflows(origin) and comes_of_size(origin)):
        return ""
    sizes = {item.name: largest_in(run, item.name) or 0.0 for item in origin.inputs if item.index is not None}
    if not sizes:
        return ""
    name = max(sizes, key=lambda one: sizes[one])
    found = _sizes(context, name)
    before = [size for _, size in found]
    if len(found) < _RUNS_NEEDED or before != sorted(before) or before[-1] < _GROWN * before[0]:
        return ""
    row = ", ".join(number_text(size) for size in before)
    runs = f"runs #{found[0][0]} to #{found[-1][0]}"
    told = f"|x| of {name} from run to run, {runs}: {row}."
    if not _writes_variables(run):
        return told
    return f"{told} Lower the learning rate, or clip gradients (tf.clip_by_global_norm)."


def _writes_variables(run: Run) -> bool:
    graphs = [run.graph] if run.python_graph is None else [run.graph, run.python_graph]
    return any(updates_variable(op_type) for graph in graphs for op_type in graph.distinct_op_types())


def _sizes(context: Context, name: TensorName) -> list[tuple[int, float]]:
    """The numbers of the last runs of the function, the oldest first, and the largest magnitude of a tensor there."""
    same, found = context.run.call.same, list[tuple[int, float]]()
    for place in range(context.current, max(-1, context.current - 4 * _RUNS_ASKED), -1):
        try:
            run = context.runs[place]
        except TfdbgError:  # deleted meanwhile, or not ours to read
            continue
        if run.call.same != same or run.what_if_title:
            continue
        size = largest_in(run, name)
        if not size:
            break
        found.append((run.call.number, size))
        if len(found) == _RUNS_ASKED:
            break
    return found[::-1]
