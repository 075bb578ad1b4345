"""What a prompt has found out and keeps, so that what is asked again costs nothing."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.values import Lack

if TYPE_CHECKING:  # what commands keep here they load themselves, when they are asked
    from tfdbg_cli.analysis.alerts import Alert, AlertSearch
    from tfdbg_cli.analysis.batch.rows import BatchRows
    from tfdbg_cli.analysis.graph.ways.walk import Hop
    from tfdbg_cli.analysis.name_tree import NameTree, TreeRow
    from tfdbg_cli.analysis.origin.by_health import HealthOrigin
    from tfdbg_cli.analysis.origin.finding import Finding, Passed
    from tfdbg_cli.analysis.origin.origin_found import Origin
    from tfdbg_cli.analysis.placement import Placement
    from tfdbg_cli.analysis.scope_sums import ScopeSum
    from tfdbg_cli.analysis.tensor_history import TensorHistory
    from tfdbg_cli.analysis.trends import Trends
    from tfdbg_cli.analysis.watch.answers import Answers

_MOST_SELECTED = 8


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a query asks a run for: to ask the runs that came must not take as long as to read all others anew."""

    title: str
    worker: str


@dataclass
class KnownRuns:
    """What the runs of a recording were asked for, by their places; true until runs that are there have `changed`.

    Its number, and how many tensors it has, may be known without reading it, and are kept by themselves.
    """

    changed: int = 0
    facts: dict[int, RunFacts] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    tensors: dict[int, int] = field(default_factory=dict)


@dataclass
class Memory:
    """What was computed at this prompt and would be computed again by a click on a column's head.

    `answers` holds what a filter said of tensors, by run, filter (its id, since it need not be hashable) and index;
    `summaries` and `histograms` are by run and index. `selected` holds what the last queries admitted, by run and
    command, and how many rows they could not be asked of; `order` is that of all rows of a run by one key.
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
    row: dict[int, int] = field(default_factory=dict)
    trends: dict[tuple[object, bool], Trends] = field(default_factory=dict)
    sums: dict[tuple[int, int, bool], Mapping[str, ScopeSum]] = field(default_factory=dict)  # of scopes, by run
    trees: dict[tuple[int, int], NameTree] = field(default_factory=dict)  # of names, by run and how many tensors
    histories: dict[tuple[object, ...], TensorHistory] = field(default_factory=dict)
    alerts: dict[tuple[int, bool, str, int], tuple[AlertSearch, Sequence[Alert]]] = field(default_factory=dict)
    runs: KnownRuns = field(default_factory=KnownRuns)
    placements: dict[tuple[int, str], Placement] = field(default_factory=dict)  # by run and the devices asked for
    order: tuple[tuple[int, str], Sequence[int]] | None = None
    tree_rows: tuple[Hashable, Sequence[TreeRow]] | None = None  # those of `tree` that were shown last
    walked: tuple[tuple[object, ...], Sequence[Hop]] | None = None  # the walk through a graph that was shown last

    def select(self, key: tuple[int, str], indices: Sequence[int], unread: int) -> None:
        """Keep what a query admitted, and forget what another one did long ago: a list may be very long."""
        self.selected[key] = indices, unread
        while len(self.selected) > _MOST_SELECTED:
            del self.selected[next(iter(self.selected))]

    def keep_finding(self, key: Hashable, finding: Finding | Passed) -> None:
        """Keep what `origin` found, and forget what it found long ago: it holds values."""
        self.findings[key] = finding
        while len(self.findings) > _MOST_SELECTED:
            del self.findings[next(iter(self.findings))]
