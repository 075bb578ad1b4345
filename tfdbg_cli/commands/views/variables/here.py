"""The variables at this stop, and what shows each."""

from __future__ import annotations

from tfdbg_cli.analysis.known_variables import KnownVariables
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.views.links import given_link, node_link, tensor_link
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run, RunStart


def variables_here(context: Context) -> KnownVariables:
    """The variables of the run looked at, or about to be made; found once."""
    stop = context.stop
    known = context.memory.variables
    if context.current not in known:
        if isinstance(stop, RunStart) and context.stepper is None:
            run = Run(stop.call, graph=stop.graph, tracebacks=stop.tracebacks, variables=stop.variables)
            known[context.current] = KnownVariables(run, begins=True)
        else:
            known[context.current] = KnownVariables(context.run)
    return known[context.current]


def variable_link(known: KnownVariables, at: int) -> str:
    """What shows the value of the variable at `at`, or where there is none, the node that stands for it."""
    one = known.rows[at]
    if one.rows:
        return tensor_link(known.run.tensors, one.rows[0])
    given = "" if known.begins else given_link(known.run.call, TensorName(one.name, 0))
    return given or node_link(one.name)
