"""Which runs hold something bad beyond what is intended or ignored: known of most by counts, of few by a search."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.causes.surroundings import asks_of_gradients
from tfdbg_cli.analysis.graph.nodes.feeds import fed_array
from tfdbg_cli.analysis.many_runs.alerts import known_of
from tfdbg_cli.analysis.origin.benign import harm_in
from tfdbg_cli.analysis.origin.by_health import HealthSearch, tells_health_alone
from tfdbg_cli.analysis.origin.dismissed import dismissed_in
from tfdbg_cli.analysis.origin.origin_found import OnIntended
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.analysis.watch.outcome import outcome_of
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.dtypes import element_type_named, is_inexact
from tfdbg_cli.model.ignored import IgnoredPlace
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary, any_nonfinite
from tfdbg_cli.model.tensors import finite_in_steps
from tfdbg_cli.model.values import LOST, NoValue
from tfdbg_cli.ops.kinds import LITERALS

_Held: TypeAlias = tuple[TensorName, int, tuple[int, ...]]  # a tensor, the execution, and what is not finite in it


class KnownHealth(StrEnum):
    """What is known of a run."""

    FINE = "fine"  # nothing that is not finite, but for what is intended or ignored
    HARMLESS = "harmless"  # something else is; what comes out is finite, or was there before, or was written down
    BAD = "bad"
    UNKNOWN = "unknown"  # nothing bad in what is known of it, and not all is known


@dataclass(frozen=True, slots=True)
class RunHealth:
    """How a run fares; `left_out` are the rows of tensors that are not finite and count as fine."""

    health: KnownHealth
    left_out: frozenset[int] = frozenset()


class RunHealths:
    """The health of `runs`; each is looked at when it is asked for, and once.

    What was found to be intended in one run is so in another one of the same function that holds as many NaN and
    infinities there: a mask costs a search in one run. What comes of it anywhere is a tensor of its own.
    """

    def __init__(self, runs: Sequence[Run], ignored: Sequence[IgnoredPlace] = ()) -> None:
        """Ask `runs`; `ignored` are places that count as fine besides those saved with a run."""
        self._runs, self._ignored = runs, tuple(ignored)
        self._known: dict[tuple[int, int], RunHealth] = {}
        self._meant: dict[Hashable, set[_Held]] = {}  # by what was called

    def known(self, place: int) -> RunHealth | None:
        """What was found of the run at `place`; None where nobody asked. Raises TfdbgError if it cannot be read."""
        return self._known.get(self._key(place))

    def of(self, place: int) -> RunHealth:
        """How the run at `place` fares.

        Raises:
            TfdbgError: it cannot be read.

        """
        steps = self.in_steps(place)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: RunHealth = end.value
                return found

    def in_steps(self, place: int) -> Generator[None, None, RunHealth]:
        """What `of` gives, a little of the work in each step: in between something else may be done.

        Raises:
            TfdbgError: it cannot be read.

        """
        key = self._key(place)
        if key not in self._known:
            self._known[key] = yield from self._look(self._runs[place])
        return self._known[key]

    def _key(self, place: int) -> tuple[int, int]:
        return place, len(self._runs[place].tensors)  # one that is still being written grows

    def _look(self, run: Run) -> Generator[None, None, RunHealth]:
        bad, unknown = yield from _not_finite(run)
        unknown = (unknown and not run.found_finite) or bool(run.lacks) or not len(run.tensors)
        fine = RunHealth(KnownHealth.UNKNOWN if unknown else KnownHealth.FINE)
        if not bad and not _has_bad_feed(run):
            return fine
        meant = self._meant.setdefault(run.call.same, set())
        held = {row: _held(run, row, summary) for row, summary in bad.items()}
        left_out = frozenset(row for row, what in held.items() if what in meant)
        if bad and len(left_out) == len(bad):
            return RunHealth(fine.health, left_out)
        if tells_health_alone(run):
            return RunHealth(_by_numbers(run, bad.values()))
        places = (*self._ignored, *run.ignored)
        search = OriginSearch(run, benign=OnIntended.SKIP, dismissed=dismissed_in(run, places))
        yield from search.read_in_steps()
        health = _of_found(run, search) if search.finds_one() else KnownHealth.FINE
        found = frozenset(bad) if health is KnownHealth.FINE else left_out | search.left_out
        meant.update(held[row] for row in found if row in held)
        return RunHealth(fine.health if health is KnownHealth.FINE else health, found & bad.keys())


def _not_finite(run: Run) -> Generator[None, None, tuple[dict[int, Summary], bool]]:
    """The tensors that are known to hold NaN or infinities, and whether it is not known of others."""
    store, bad, unknown = run.tensors, dict[int, Summary](), False
    fine = bytearray(len(store))
    for finite, _ in finite_in_steps(store, range(len(store))):
        for index in finite:
            fine[index] = 1
        yield
    for row in (row for row, is_fine in enumerate(fine) if not is_fine):
        yield
        summary = known_of(store, row)
        if summary is None:
            value = store.value(row)
            unknown = unknown or (isinstance(value, NoValue) and value.lack in LOST)
        elif summary.any_nonfinite is None:
            unknown = True
        elif summary.any_nonfinite:
            bad[row] = summary
    return bad, unknown


def _of_found(run: Run, search: OriginSearch) -> KnownHealth:
    """How `run` fares, in which `search` finds what is bad: as a watch judges it, which goes past what does no harm.

    What loss scaling took care of counts as intended. Of a NaN that was fed and that no tensor shows nobody can tell
    what came of it.
    """
    fed = (fed_array(given) for given in run.call.given.values())
    if run.error is not None or any(one is not None and nan_mask(one).any() for one in fed):
        return KnownHealth.BAD
    if harm_in(run, search) is not None:
        return KnownHealth.BAD
    return KnownHealth.FINE if asks_of_gradients(search.lineage.graphs) else KnownHealth.HARMLESS


def _by_numbers(run: Run, bad: Iterable[Summary]) -> KnownHealth:
    """How a run fares of which there are counts and no values: an infinity of a constant may be intended.

    It is harmless if all that is `bad` in it are infinities, of which none comes out. What an op made of a NaN may be
    a number that comes out.
    """
    if not any(summary.nan or summary.spoiled for summary in bad) and _comes_out_finite(run):
        return KnownHealth.HARMLESS
    origin = HealthSearch(run).first()
    return KnownHealth.UNKNOWN if origin is None or origin.op_type in LITERALS else KnownHealth.BAD


def _comes_out_finite(run: Run) -> bool:
    """Whether all that comes out of a run of a session or a function is known, and known to be finite.

    It is not where the run does not show the variables that it updates, as one that TensorFlow logged.
    """
    outcome = outcome_of(run.graph, run.call)
    if run.error is not None or run.call.kind is RunKind.EAGER or not run.call.fetches:
        return False
    if not all(map(outcome.is_shown, outcome.applied)):
        return False
    fetches = set(map(tensor_name_of, run.call.fetches))
    for name in fetches | outcome.names(run):
        rows = run.tensors.named(name.node, name.slot)
        if (name in fetches and not rows) or not all(_is_finite(run, row) for row in rows):
            return False
    return True


def _is_finite(run: Run, row: int) -> bool:
    kind = element_type_named(run.tensors[row].dtype)
    if kind is not None and kind.numpy is not None and not is_inexact(kind.numpy):
        return True
    summary = known_of(run.tensors, row)
    return summary is not None and summary.any_nonfinite is False


def _has_bad_feed(run: Run) -> bool:
    """Whether it was fed NaN or infinities, which no tensor need show."""
    feeds = run.call.feeds.values()
    return any(not isinstance(value, NoValue) and any_nonfinite(np.asarray(value)) for value in feeds)


def _held(run: Run, row: int, summary: Summary) -> _Held:
    tensor = run.tensors[row]
    return tensor.name, tensor.execution, (summary.nan, summary.neg_inf, summary.pos_inf, summary.size)
