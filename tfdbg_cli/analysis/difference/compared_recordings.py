"""Two recordings compared run by run, or the replicas of each run: the first pair that differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tfdbg_cli.analysis.difference.comparison import (
    Comparison,
    DamagedTensor,
    compared_replicas,
    compared_runs,
)
from tfdbg_cli.analysis.difference.divergence import Told, silently
from tfdbg_cli.analysis.difference.left_variables import LeftGaps
from tfdbg_cli.analysis.difference.tolerance import Tolerance
from tfdbg_cli.analysis.graph.nodes.membership import membership_of
from tfdbg_cli.analysis.pairing.kept_pairs import KeptPairs
from tfdbg_cli.analysis.pairing.renames import Renames
from tfdbg_cli.analysis.pairing.run_pairs import paired_runs
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import NoValue


@dataclass(frozen=True)
class Compared:
    """Two recordings compared: the first pair of runs that differs, or where none does the last one compared.

    `places` are those of the two runs in their recordings, from 0. Of `pairs` pairs, `count` were compared; in
    `silent` of these no value could be. `single` counts the runs of either recording that the other lacks.
    `renumbered` says that no number of a run is in both, so that runs are paired that may be of other moments.
    With `graphs` those without values were told apart by what sets them apart. `unused_lines` are those of the map
    that fit no pair of nodes in any of the runs compared. `damaged` are the tensors of all these runs that cannot be
    read, each name once.
    """

    comparison: Comparison
    places: tuple[int, int]
    count: int
    pairs: int
    single: int = 0
    silent: int = 0
    renumbered: bool = False
    graphs: bool = False
    unused_lines: Sequence[int] = ()
    damaged: Sequence[DamagedTensor] = ()

    @property
    def comparable(self) -> bool:
        """Whether a single value was compared."""
        return self.silent < self.count


def compared_recordings(
    first: Sequence[Run],
    second: Sequence[Run],
    *,
    number: int | None = None,
    tolerance: Tolerance | None = None,
    renames: Renames | None = None,
    graphs: bool = False,
    told: Told = silently,
) -> Compared:
    """Compare runs, the first pair first, until one differs. With `number` only the runs with that number.

    With `graphs` two graphs without values differ where something sets them apart. `told` hears the share that is
    done.

    See `paired_runs` for which runs are paired.

    Raises:
        TfdbgError: there is no run to compare, or one cannot be read.

    """
    places = paired_runs(first, second, number)
    single = 0 if number is not None else len(first) + len(second) - 2 * len(places)
    pairing = KeptPairs(renames or Renames())
    pairs = [
        _Pair((one, two), partial(_runs_at, (first, second), (one, two), tolerance, pairing)) for one, two in places
    ]
    numbers = [{run.call.number for run in runs} for runs in (first, second)]
    found = _first_different(pairs, single, told, graphs=graphs)
    return replace(found, renumbered=not numbers[0] & numbers[1], graphs=graphs)


def compared_in_replicas(
    runs: Sequence[Run],
    replicas: Sequence[int],
    *,
    number: int | None = None,
    tolerance: Tolerance | None = None,
    renames: Renames | None = None,
    told: Told = silently,
) -> Compared:
    """Compare replicas of each run, the first run first, until two differ. With `number` only in the run of that.

    `replicas` are the two that are meant; of one alone the first of all is the other; of none it is beside each one.
    `told` hears the share that is done.

    Raises:
        TfdbgError: no run has those replicas, they are one and the same, or one cannot be read.

    """
    if replicas and (0, *replicas)[-2] == replicas[-1]:
        raise TfdbgError(
            f"Replica {replicas[-1]} would be compared with itself.",
            hint="Two are compared, or the first with another one: diff --replicas 0 1, or diff --replicas 1",
            exit_code=2,
        )
    pairs: list[_Pair] = []
    known: set[int] = set()
    single = 0
    for place, run in enumerate(runs):
        if number is not None and run.call.number != number:
            continue
        there = membership_of(run).replicas
        known.update(there)
        found = [both for both in _numbers(replicas, there) if set(both) <= set(there)]
        single += not found
        pairs += [
            _Pair((place, place), partial(_replicas_at, runs, place, both, tolerance, renames)) for both in found
        ]
    if not pairs:
        has = f"There are: {', '.join(map(str, sorted(known)))}."
        raise TfdbgError(
            f"There is no run with {_called(replicas)}.",
            hint=has if known else "A step of tf.distribute's MirroredStrategy has nodes in scopes replica_1/, …",
            exit_code=2,
        )
    return _first_different(pairs, single, told)


def _numbers(replicas: Sequence[int], there: Sequence[int]) -> Sequence[tuple[int, int]]:
    """The pairs of replicas to compare, in the order in which they are."""
    if len(replicas) == 2:
        return [(replicas[0], replicas[1])]
    return [(0, other) for other in replicas or there[1:]]


def _called(replicas: Sequence[int]) -> str:
    if len(replicas) == 2:
        return f"the replicas {replicas[0]} and {replicas[1]}"
    return f"a replica {replicas[0]} beside the first" if replicas else "several replicas"


def _runs_at(
    runs: tuple[Sequence[Run], Sequence[Run]],
    places: tuple[int, int],
    tolerance: Tolerance | None,
    pairing: KeptPairs,
    left: LeftGaps,
    told: Told,
) -> Comparison:
    return compared_runs(runs[0][places[0]], runs[1][places[1]], tolerance, pairing, left, told)


def _replicas_at(
    runs: Sequence[Run],
    place: int,
    replicas: tuple[int, int],
    tolerance: Tolerance | None,
    renames: Renames | None,
    left: LeftGaps,
    told: Told,
) -> Comparison:
    return compared_replicas(runs[place], replicas, tolerance, renames, left, told)


@dataclass(frozen=True)
class _Pair:
    """Two runs, or two parts of one, at `places`; and what compares them, given what the pairs before left, and what
    hears how far it is.
    """

    places: tuple[int, int]
    compared: Callable[[LeftGaps, Told], Comparison]


def _first_different(pairs: Sequence[_Pair], single: int, told: Told, *, graphs: bool = False) -> Compared:
    """Compare one pair after the other until one differs."""
    found: Compared | None = None
    silent = 0
    left: LeftGaps = {}
    unused: set[int] | None = None
    damaged: list[DamagedTensor] = []
    for count, pair in enumerate(pairs, 1):
        comparison = pair.compared(left, partial(_told_of_part, told, count - 1, len(pairs)))
        lines = comparison.pairs.unused_lines
        unused = set(lines) if unused is None else unused.intersection(lines)
        silent += not comparison.comparable
        damaged += comparison.damaged
        differs = not comparison.same or (graphs and comparison.of_graphs_alone and bool(comparison.graph_changes))
        if found is None or comparison.comparable or differs:
            found = Compared(comparison, pair.places, count, len(pairs), single, silent)
        else:  # what was compared says more
            found = replace(found, count=count, silent=silent)
        if differs:
            break
        left = comparison.left
    if found is None:
        raise TfdbgError("There is no run in one of both.", exit_code=2)
    return replace(found, unused_lines=sorted(unused or ()), damaged=_by_name(damaged))


def _by_name(damaged: Iterable[DamagedTensor]) -> Sequence[DamagedTensor]:
    """What is `damaged`, each name once, with the runs of all of them and the reason in the first."""
    runs: dict[str, dict[int, None]] = {}
    whys: dict[str, NoValue] = {}
    for one in damaged:
        whys.setdefault(one.name, one.why)
        runs.setdefault(one.name, {}).update(dict.fromkeys(one.runs))
    return [DamagedTensor(name, why, list(runs[name])) for name, why in whys.items()]


def _told_of_part(told: Told, before: int, count: int, share: float) -> None:
    """Tell which share of `count` parts is done, where it is so much of the one behind `before` others."""
    told((before + share) / count)
