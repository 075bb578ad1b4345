"""The command with which a stop opens."""

from __future__ import annotations

from tfdbg_cli.analysis.watch.filter import Bad
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.model.runs import Opened, RunEnd, RunStart, Stop


def opening_command(event: Stop) -> str:
    """The command string whose document a user sees first at `event`.

    Before a run what is about to run; after an error the error; after a hit of has_inf_or_nan or bad_result, and of
    the bundle of such a run, the origin, after any other hit the tensors that passed; after a run in which a rule
    fired the alerts; after a profiled run the profile; else the tensors, the nodes of a graph without any, or the
    runs of a recording that holds several; in the middle of a run where the program stands.
    """
    if isinstance(event, RunStart):
        return "run_info"
    if isinstance(event, Opened) and event.opening:
        return event.opening
    if isinstance(event, Opened) and (len(event.runs) != 1 or event.growing is not None):
        return "runs"
    run = event.runs[event.current] if isinstance(event, Opened) else event.run
    if run.error is not None:
        return "error_info"
    if isinstance(event, Opened) and event.went_bad:
        return "origin"
    hit = None if isinstance(event, Opened) else event.hit
    if hit is not None:
        ours = BUILT_IN_FILTERS.get(hit.filter_name)
        of_origin = ours is not None and ours.finds is Bad.EITHER
        verb = "origin" if of_origin else f"lt -f {quoted(hit.filter_name)}"
        return f"{verb} -fenn {quoted(hit.exclude_node_names)}" if hit.exclude_node_names else verb
    if run.paused is not None:
        return "here"
    alerts = event.beside.alerts if isinstance(event, RunEnd) and event.beside is not None else ()
    if any(alert.run == run.call.number for alert in alerts):
        return "alerts"
    if run.profile is not None:
        return "lp"
    return "ln" if run.is_graph_alone else "lt"
