"""Which of the tensors that are not finite lead to something that comes out of the run."""

from __future__ import annotations

from collections.abc import Collection

from tfdbg_cli.analysis.lineage import Lineage
from tfdbg_cli.analysis.outcome import outcome_of
from tfdbg_cli.analysis.tensor_lists import put_into_list
from tfdbg_cli.model.runs import Run


def leading_to_outcome(run: Run, lineage: Lineage, bad: Collection[int]) -> set[int]:
    """Those of the tensors `bad` that come out of `run`, or of which such a one was made through others of `bad`."""
    asked = set(bad)
    outcome = outcome_of(run.graph, run.call).names(run.tensors)
    waiting = [row for row in bad if run.tensors[row].name in outcome]
    found = set(waiting)
    while waiting:
        row = waiting.pop()
        made_of = [item.index for item in lineage.places(row) if item.index is not None]
        for given in (*made_of, *put_into_list(run, lineage, row)):
            if given in asked and given not in found:
                found.add(given)
                waiting.append(given)
    return found
