"""How the runs of a list fare: looked at as far as that takes a moment, the rest row by row on a screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfdbg_cli.analysis.many_runs.run_health import KnownHealth, RunHealth, RunHealths
from tfdbg_cli.commands.context import Context
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.units import count_text

# What is looked at unasked, in all: a second or so.
_MOST_RUNS = 100
_MOST_TENSORS = 20_000
_MOST_BYTES = 1 << 28

_CELLS = {
    KnownHealth.FINE: Span("fine", Style.GOOD),
    KnownHealth.HARMLESS: Span("harmless", Style.DIM),
    KnownHealth.BAD: Span("bad", Style.NAN),
    KnownHealth.UNKNOWN: Span("?", Style.WARNING),
}
_FINE = frozenset({KnownHealth.FINE, KnownHealth.HARMLESS})
_TO_COME, _NOT_LOOKED_AT = Span("…", Style.DIM), Span("")


def run_healths(context: Context) -> RunHealths:
    """The health of the runs of the program at this stop, kept as long as the same places are ignored."""
    ignored = context.stop.ignored
    numbers = tuple(number for number, _ in ignored.numbered)
    if context.memory.healths is None or context.memory.healths[0] != numbers:
        context.memory.healths = numbers, RunHealths(context.runs_of_program, ignored.places)
    return context.memory.healths[1]


def is_bad(context: Context, place: int) -> bool:
    """Whether the run at `place` is known to hold something bad, or is found to in a moment.

    Raises:
        TfdbgError: it cannot be read.

    """
    looked = LookedAt(context, [place])
    return looked.known(place) is KnownHealth.BAD


class LookedAt:
    """The runs of `context` at `places`, looked at in this order as far as that takes a moment.

    What lies far away is not looked at. `first_bad` is the first in which something is bad; `end` is how many of them
    were looked at. On a screen those behind the first bad one are left for later.
    """

    def __init__(self, context: Context, places: Sequence[int]) -> None:
        self._healths = run_healths(context)
        self._count = len(context.runs_of_program)
        self._runs, self._places = context.runs_of_program, places
        self._later = context.later
        self._near = not (isinstance(context.stop, Opened) and context.stop.is_far)
        self.first_bad: int | None = None
        self.end = 0
        self._look(_Moment())

    def known(self, place: int) -> KnownHealth | None:
        """How the run at `place` fares; None where nobody has looked, or it cannot be read."""
        try:
            found = self._healths.known(place) if place < self._count else None
        except TfdbgError:
            return None
        return None if found is None else found.health

    def cell(self, place: int) -> Span:
        """What a list says of the run at `place`."""
        known = self.known(place)
        if known is not None:
            return _CELLS[known]
        return _TO_COME if self._later and self._near and place < self._count else _NOT_LOOKED_AT

    def missing(self, row: int) -> bool:
        """Whether the run of the row is still to be looked at. See `document.later.Later`."""
        return self.cell(self._places[row]) is _TO_COME

    def count(self, row: int) -> Iterator[None]:
        """Look at the run of the row."""
        yield
        yield from self._healths.in_steps(self._places[row])

    def head(self) -> list[Line]:
        """Where something is wrong first, with the way there; or up to where nothing is."""
        if self.first_bad is not None:
            number, way = self._runs[self.first_bad].call.number, f"runs {self.first_bad + 1}"
            first = self._places[0] != self.first_bad and self._fine_before(self.first_bad)
            where = "The first in which something is wrong is" if first else "Something is wrong in"
            return [line(f"{where} run #{number}: ", Span(way, Style.KEY, way))]
        if not self.end or not all(self.known(place) in _FINE for place in self._places[: self.end]):
            return []
        if self.end == len(self._places):
            return [line(Span("Nothing is wrong in any of them.", Style.GOOD))]
        looked = "run" if self.end == 1 else count_text(self.end, "run")
        return [line(f"Nothing is wrong in the first {looked}; the others were not looked at.")]

    def _fine_before(self, first_bad: int) -> bool:
        """Whether that is known of all runs at the places before."""
        return all(self.known(place) in _FINE for place in self._places[: self._places.index(first_bad)])

    def _look(self, moment: _Moment) -> None:
        for place in self._places:
            if place >= self._count:
                break
            try:
                if self._healths.known(place) is None and not (self._near and moment.admits(self._runs[place])):
                    break
                found: RunHealth | None = self._healths.of(place)
            except TfdbgError:  # deleted meanwhile, or not ours to read
                found = None
            self.end += 1
            if self.first_bad is None and found is not None and found.health is KnownHealth.BAD:
                self.first_bad = place
                if self._later:
                    break


class _Moment:
    """How much is looked at before somebody has waited for long."""

    def __init__(self) -> None:
        self._runs, self._tensors, self._bytes = _MOST_RUNS, _MOST_TENSORS, _MOST_BYTES

    def admits(self, run: Run) -> bool:
        """Whether there is time for `run`, which takes it."""
        count = len(run.tensors)
        if not self._runs or count > self._tensors:
            return False
        held = sum(run.tensors[row].nbytes or 0 for row in range(count))
        if held > self._bytes:
            return False
        self._runs, self._tensors, self._bytes = self._runs - 1, self._tensors - count, self._bytes - held
        return True
