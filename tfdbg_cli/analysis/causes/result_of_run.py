"""What a function gave to the eager code that called it, where the run that the call was shows how it came to be."""

from __future__ import annotations

from collections.abc import Iterable

from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.model.calls import Call
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run


def result_of_run(call: Call, name: TensorName, inputs: Iterable[InputSeen]) -> Cause | None:
    """The cause of the tensor `name` of `call` with these `inputs`, if it is a result of another run.

    None where it is none, or where what it was made of is shown in this run, too.
    """
    number = call.run_within(name.node)
    if number is None or all(item.value is not None or item.tensor is not None for item in inputs):
        return None
    return Cause(
        f"A function gave it that was called before, in run #{number}: how it came to be is not shown here.",
        f"See what `origin` tells of run #{number}.",
    )


def returned_alone(run: Run, name: TensorName, node: Node | None) -> Cause | None:
    """The cause of the tensor `name`, a result of a call of which nothing is known but what it gave; None of others.

    `node` is what made it, where a graph at hand holds that.
    """
    if node is not None or not run.inside_lacks or str(name) not in run.call.fetches:
        return None
    order = " So nobody can tell which of its results went bad first." if len(run.call.fetches) > 1 else ""
    return Cause(f"The function returned it. {run.inside_lacks}{order}")
