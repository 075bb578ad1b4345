"""Which bad tensors of a run have a part in what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.origin.carried_over import CarriedOver
from tfdbg_cli.analysis.origin.element_ways import is_only_assigned
from tfdbg_cli.analysis.origin.hidden_sources import HiddenSources
from tfdbg_cli.analysis.origin.updates_read import UpdatesRead
from tfdbg_cli.analysis.watch.outcome import outcome_of, unread
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import is_after_update
from tfdbg_cli.model.walks import reached


def leading_to_outcome(
    run: Run, lineage: Lineage, bad: Collection[int], spoiling: Callable[[int], Iterable[int]]
) -> set[int]:
    """Those of the tensors `bad` that are in the outcome of `run`, or lead to such a one through others of `bad`.

    `spoiling` gives the rows of the bad tensors that made the bad elements of one. A variable that holds what it held
    before is no such outcome. If the sources of one of these are not known, any bad tensor may lead to it: then the
    result is all of `bad`.
    """
    asked = set(bad)
    comes_out = outcome_of(run.graph, run.call)
    # What is assigned comes out where it is in the variable afterwards: something else may have been assigned there.
    outcome = {
        name
        for name in comes_out.names(run)
        if name in comes_out.results or not comes_out.is_shown(name) or not is_only_assigned(run.graph, name)
    }
    outcome |= unread(run) if run.call.kind is RunKind.EAGER else frozenset()
    hidden, updates = HiddenSources(run, lineage), UpdatesRead(run, lineage)

    def read(row: int) -> list[int]:
        written = () if is_after_update(run.tensors[row].node) else updates.rows(row)
        return [index for index in (*spoiling(row), *hidden.rows(row), *written) if index in asked]

    carried = CarriedOver(run, lineage)
    ends = (row for row in bad if run.tensors[row].name in outcome and not carried.is_as_before(row))
    found = set(reached(ends, read))
    unknown = any(lineage.node(row) is None or _reads_unknown(lineage, row) for row in found)
    return asked if unknown else found


def _reads_unknown(lineage: Lineage, row: int) -> bool:
    """Whether the tensor at `row` was made of one whose maker is in no graph of the run."""
    return any(item.node is None and item.index is None and item.value is None for item in lineage.places(row))
