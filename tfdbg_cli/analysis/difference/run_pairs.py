"""Which run of one recording is compared with which of another, and the first of them that differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tfdbg_cli.analysis.difference.comparison import Comparison, compared_runs
from tfdbg_cli.analysis.difference.renames import Renames
from tfdbg_cli.analysis.difference.tolerance import Tolerance
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Run


@dataclass(frozen=True)
class Compared:
    """The first pair of runs that differs, or the last one where none does, of those that could be compared.

    `places` are those of the two runs in their recordings, from 0; `count` pairs were compared, of `pairs`. `single`
    counts the runs that have no other, `silent` those of the compared pairs of which no value could be compared.
    """

    comparison: Comparison
    places: tuple[int, int]
    count: int
    pairs: int
    single: int = 0
    silent: int = 0

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
) -> Compared:
    """Compare runs, the first pair first, until one differs. With `number` only the runs with that number.

    Runs are paired by their numbers where both recordings have the same ones, else in their order.

    Raises:
        TfdbgError: there is no run to compare, or one cannot be read.

    """
    places = list(_paired(first, second, number))
    found: Compared | None = None
    single = 0 if number is not None else len(first) + len(second) - 2 * len(places)
    silent = 0
    for count, (one, two) in enumerate(places, 1):
        comparison = compared_runs(first[one], second[two], tolerance, renames)
        silent += not comparison.comparable
        if found is None or comparison.comparable:
            found = Compared(comparison, (one, two), count, len(places), single, silent)
        else:  # what was compared says more
            found = replace(found, count=count, silent=silent)
        if not comparison.same:
            break
    if found is None:
        raise TfdbgError("There is no run in one of both.", exit_code=2)
    return found


def _paired(first: Sequence[Run], second: Sequence[Run], number: int | None) -> Iterator[tuple[int, int]]:
    if number is None and len(first) == 1 == len(second):
        yield 0, 0
        return
    places = [{run.call.number: place for place, run in enumerate(runs)} for runs in (first, second)]
    if number is not None:
        for name, known in zip("AB", places, strict=True):
            if number not in known:
                has = ", ".join(map(str, list(known)[:8])) + (" …" if len(known) > 8 else "")
                raise TfdbgError(f"There is no run #{number} in {name}.", hint=f"It has {has or 'none'}.")
        yield places[0][number], places[1][number]
    elif len(places[0]) == len(first) and len(places[1]) == len(second) and set(places[0]) & set(places[1]):
        yield from ((place, places[1][key]) for key, place in places[0].items() if key in places[1])
    else:
        yield from zip(range(len(first)), range(len(second)), strict=False)
