"""A place that the user ignores: the nodes that they named, and those that are bad because of these alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.analysis.origin.aftermath import spoiled_variables
from tfdbg_cli.analysis.origin.dismissed import Dismissed
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.analysis.watch.outcome import outcome_of
from tfdbg_cli.analysis.watch.verdicts import holding
from tfdbg_cli.model.ignored import IgnoredBy, IgnoredPlace
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run

_WHY = "said at the prompt"


def ignored_cause(run: Run, cause: Cause, before: Dismissed) -> IgnoredPlace:
    """The place by which the user ignores `cause`: all origins in `run` with it, given what is ignored `before`."""
    search = OriginSearch(run, dismissed=Dismissed(before.nodes, before.causes | {cause.key}))
    search.all()
    named = [node for node, key in search.dismissals.caused.items() if key == cause.key]
    return ignored_place(run, IgnoredBy.CAUSE, cause.key, named, cause.text)


def ignored_place(
    run: Run,
    by: IgnoredBy,
    name: str,
    named: Sequence[str],
    why: str = _WHY,
    held: frozenset[str] | None = None,
) -> IgnoredPlace:
    """The place by which the user ignores the nodes `named` of `run`, under `name`, and what is bad because of them.

    Tensors of the run's outcome are ignored only if they are named themselves: a later run may spoil them in another
    way, so that a watch has to go on checking them. Reads values, if the run has any. `why` is shown in the list of
    ignored places; `held` is `Dismissed.held` of what was ignored before.
    """
    search = OriginSearch(run, dismissed=Dismissed(frozenset(named), held=held))
    rows = sorted(search.dismissals.rows)
    outcome = outcome_of(run.graph, run.call).names(run) if rows else frozenset()
    carriers = [run.tensors[row].node for row in rows if run.tensors[row].name not in outcome]
    first = next((run.tensors[row].name for row in rows if run.tensors[row].node in named), TensorName(named[0], 0))
    dismissed = search.dismissals.rows
    spoiled = spoiled_variables(run, search.lineage, lambda row: row in dismissed)
    values = [run.tensors.value(row) for row in rows if run.tensors[row].name == first]
    node = run.graph.find(first.node)
    frame = made_at(run.tracebacks, first.node)
    return IgnoredPlace(
        run.call.number,
        run.call.place,
        first,
        node.op_type if node is not None else "",
        holding([value for value in values if isinstance(value, np.ndarray)]) if values else "",
        why,
        False,
        tuple(dict.fromkeys([*named, *carriers])),
        frame.file if frame else "",
        frame.line if frame else None,
        by,
        name,
        tuple(named),
        search.dismissals.bad_nodes,
        spoiled,
    )
