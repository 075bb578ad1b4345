"""The caches of one prompt: results of commands, kept for when they are asked again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.values import Lack

if TYPE_CHECKING:  # what commands keep here they load themselves, when they are asked
    from tfdbg_cli.analysis.batch.batch_rows import BatchRows
    from tfdbg_cli.analysis.graph.ways.walk import Hop
    from tfdbg_cli.analysis.known_variables import KnownVariables
    from tfdbg_cli.analysis.layers.name_tree import NameTree, TreeRow
    from tfdbg_cli.analysis.layers.scope_sums import ScopeSum
    from tfdbg_cli.analysis.many_runs.alerts import Alert, AlertSearch
    from tfdbg_cli.analysis.many_runs.run_health import RunHealths
    from tfdbg_cli.analysis.many_runs.tensor_history import TensorHistory
    from tfdbg_cli.analysis.many_runs.trends import Trends
    from tfdbg_cli.analysis.origin.by_health import HealthOrigin
    from tfdbg_cli.analysis.origin.finding import Finding, Passed
    from tfdbg_cli.analysis.origin.origin_found import Origin
    from tfdbg_cli.analysis.placement import Placement
    from tfdbg_cli.analysis.watch.answers import Answers
    from tfdbg_cli.model.records import FoundRecords

_MOST_SELECTED = 8


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts of a run that a query of `runs` needs; cached so that a query need not read every run again."""

    title: str
    worker: str


@dataclass
class KnownRuns:
    """Facts of the runs of a recording, by place; valid while `changed` equals that of `Growing`.

    `numbers` and `tensors` (how many) are kept apart from `facts`, since they may be known without reading the run.
    """

    changed: int = 0
    facts: dict[int, RunFacts] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    tensors: dict[int, int] = field(default_factory=dict)


@dataclass
class Memory:
    """What was computed at this prompt and is needed again, for example when a click on a head sorts a table.

    `answers` are those of filters, by run and filter (its id, as it need not be hashable), then by index;
    `summaries` and `histograms` are by run and index. `selected` holds the indices that the last queries matched, by
    run and command, and for how many rows they could not be evaluated; `order` is that of all rows of a run by a key.
    """

    answers: dict[tuple[int, int], tuple[TensorFilter, Answers]] = field(default_factory=dict)
    summaries: dict[tuple[int, int], Summary | None] = field(default_factory=dict)
    lacks: dict[tuple[int, int], Lack | None] = field(default_factory=dict)  # of those without a summary: why
    histograms: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    selected: dict[tuple[int, str], tuple[Sequence[int], int]] = field(default_factory=dict)

    origins: dict[int, Origin | HealthOrigin] = field(default_factory=dict)  # by run, what `origin` found last
    findings: dict[Hashable, Finding | Passed] = field(default_factory=dict)  # by all that they depend on
    # By run and by what is ignored, the rows of the batch behind the origin; by run, the row that was shown last.
    batches: dict[tuple[int, tuple[int, ...]], BatchRows | None] = field(default_factory=dict)
    no_rows: dict[tuple[int, tuple[int, ...]], str] = field(default_factory=dict)  # by the same, why none is bad
    row: dict[int, int] = field(default_factory=dict)
    records: dict[tuple[object, ...], FoundRecords] = field(default_factory=dict)  # those behind rows of a batch
    trends: dict[tuple[object, bool], Trends] = field(default_factory=dict)
    sums: dict[tuple[int, int, bool], Mapping[str, ScopeSum]] = field(default_factory=dict)  # of scopes, by run
    trees: dict[tuple[int, int], NameTree] = field(default_factory=dict)  # of names, by run and how many tensors
    histories: dict[tuple[object, ...], TensorHistory] = field(default_factory=dict)
    alerts: dict[tuple[int, bool, str, int, str], tuple[AlertSearch, Sequence[Alert]]] = field(default_factory=dict)
    healths: tuple[tuple[int, ...], RunHealths] | None = None  # of runs, and the numbers of what was ignored then
    variables: dict[int, KnownVariables] = field(default_factory=dict)  # by run
    runs: KnownRuns = field(default_factory=KnownRuns)
    placements: dict[tuple[int, str], Placement] = field(default_factory=dict)  # by run and the devices asked for
    order: tuple[tuple[int, str], Sequence[int]] | None = None
    tree_rows: tuple[Hashable, Sequence[TreeRow]] | None = None  # those of `tree` that were shown last
    walked: tuple[tuple[object, ...], Sequence[Hop]] | None = None  # the walk through a graph that was shown last

    def select(self, key: tuple[int, str], indices: Sequence[int], unjudged: int) -> None:
        """Keep the result of a query, and drop the oldest ones beyond a few, since each may be very long."""
        self.selected[key] = indices, unjudged
        while len(self.selected) > _MOST_SELECTED:
            del self.selected[next(iter(self.selected))]

    def keep_finding(self, key: Hashable, finding: Finding | Passed) -> None:
        """Keep a result of `origin`, and drop the oldest ones beyond a few, since they hold values."""
        self.findings[key] = finding
        while len(self.findings) > _MOST_SELECTED:
            del self.findings[next(iter(self.findings))]
