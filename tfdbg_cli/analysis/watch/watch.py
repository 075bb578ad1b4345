"""A watch: a filter asked after each of many runs, until a tensor passes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Hashable

from tfdbg_cli.analysis.watch.datum import datum_of
from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import our_filter
from tfdbg_cli.analysis.watch.watch_progress import WatchProgress
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.runs import Hit, Run, StopBefore
from tfdbg_cli.process.interruptions import our_errors


class Watch:
    """Applies the filter of `decision` to run after run, and counts them; calls `say` once if the filter raises.

    It began at the stop `behind`, or before any run (None).
    """

    def __init__(
        self,
        decision: RunUntil,
        tensor_filter: TensorFilter,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        behind: StopBefore | None = None,
    ) -> None:
        self.decision = decision
        self.runs = 0
        self.eager_runs = 0  # of those, the ones of code that runs eagerly, as far as nothing passed in them
        self._behind = behind
        self._last_passed = 0
        self._passed: dict[Hashable, int] = {}  # by `Call.looks_at`, the number of the last run without a hit
        self.progress = WatchProgress(decision.filter_name, clock)
        self._filter = tensor_filter
        self._excluded = re.compile(decision.exclude_node_names) if decision.exclude_node_names else None
        self._say = say
        self._clock = clock
        self._complained = False
        ours = our_filter(tensor_filter)
        self._compares = ours is not None and ours.compares  # whether the previous run's values are needed, too
        self._before: dict[tuple[object, ...], Run] = {}
        self.ignored: frozenset[tuple[Hashable, str]] = frozenset()  # nodes that are left out, each with its calls

    @property
    def words(self) -> str:
        """How it goes, in a sentence."""
        return self.progress.words(self.runs)

    def sees(self, run: Run) -> Hit | None:
        """Count `run`, and return the hit if one of its tensors passes the filter.

        If a check inside the run has `caught` it, it is a hit without a look at its values. A tensor on which the
        filter raises does not pass.
        """
        if run.caught or self._asks(run):
            self.runs += 1
            alike = self._passed.get(run.call.looks_at)
            others = self._last_passed > (alike or 0)
            decision = self.decision
            return Hit(decision.filter_name, decision.exclude_node_names, self.runs, alike, others, self._behind)
        self.passed(run.call.number, run.call.looks_at)
        return None

    def passed(self, number: int, looked_at: Hashable = None) -> None:
        """Count the run with that number, in which no tensor passes the filter; `looked_at` as `Call.looks_at`."""
        self.runs += 1
        self.eager_runs += looked_at is None
        self._last_passed = self._passed[looked_at] = number

    def skipped(self, run: Run) -> None:
        """Note that `run`, for which `sees` gave a hit, turned out harmless and is not stopped at."""
        if run.frames:
            self.runs -= 1  # it goes on, and counts at its end
            return
        self._last_passed = self._passed[run.call.looks_at] = run.call.number

    def _asks(self, run: Run) -> bool:
        begun = self._clock()
        before = self._before.get(run.call.same) if self._compares else None
        found = any(self._passes(run, index, before) for index in range(len(run.tensors)))
        if self._compares:
            self._before = {**self._before, run.call.same: run}
        self.progress.asked(self._clock() - begun)
        return found

    def asks_for(self, run: Run, index: int) -> bool:
        """Whether the tensor of `run` at `index` passes the filter."""
        return self._passes(run, index, None)

    def _passes(self, run: Run, index: int, before: Run | None) -> bool:
        tensor = run.tensors[index]
        if self._excluded is not None and self._excluded.search(tensor.node):
            return False
        ways = {(run.call.place, tensor.node), (run.call.looks_at, tensor.node)} if self.ignored else ()
        if not self.ignored.isdisjoint(ways):
            return False
        value = run.tensors.value(index)
        try:
            return bool(self._filter(datum_of(run, index, before), value))
        except our_errors() as error:  # the filter is the user's
            if not self._complained:
                self._complained = True
                what = f"The filter {self.decision.filter_name} raised {type(error).__name__} on {tensor.name}"
                self._say(f"{what}: {error}. Such tensors count as not passing.")
            return False
