"""Which of the tensors that are not finite lead to something that comes out of the run."""

from __future__ import annotations

from collections.abc import Collection

from tfdbg_cli.analysis.graph.lineage import Lineage
from tfdbg_cli.analysis.origin.hidden_sources import HiddenSources
from tfdbg_cli.analysis.watch.outcome import outcome_of
from tfdbg_cli.model.runs import Run


def leading_to_outcome(run: Run, lineage: Lineage, bad: Collection[int]) -> set[int]:
    """Those of the tensors `bad` that come out of `run`, or of which such a one was made through others of `bad`."""
    asked = set(bad)
    outcome = outcome_of(run.graph, run.call).names(run.tensors)
    hidden = HiddenSources(run, lineage)
    waiting = [row for row in bad if run.tensors[row].name in outcome]
    found = set(waiting)
    while waiting:
        row = waiting.pop()
        read = [item.index for item in lineage.places(row)] + hidden.rows(row)
        for index in read:
            if index is not None and index in asked and index not in found:
                found.add(index)
                waiting.append(index)
    return found
