"""The columns of the list of runs, and what is known of all of them beside: which are bad, what they gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.views.run_health import LookedAt
from tfdbg_cli.commands.views.run_results import RunResults
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened, Run, RunEnd, RunOutline, TellsOutlines, outline_of
from tfdbg_cli.model.units import count_text

_END = 8  # columns of how a run ended that are left on a narrow screen
_MEASURED = 2_000  # rows of a printed list that are all read to line its columns up: each is a run on disk


@dataclass(frozen=True)
class _RunColumn:
    """A column, and its cell for the run at a place, of which the outline is known."""

    column: Column
    cell: Callable[[int, RunOutline], Span]


class RunColumns:
    """What is shown of the runs of `context` at `places`.

    `looked` and `results` are None where nothing ran, `looked` also of a lone run.
    """

    def __init__(self, context: Context, places: Sequence[int]) -> None:
        stop = context.stop
        self._context, self._places = context, places
        self._noun = stop.noun if isinstance(stop, Opened) else "run"
        ran = self._noun == "run"
        self.looked = LookedAt(context, places) if ran and len(context.runs) > 1 else None
        self.results = RunResults(context, places) if ran else None
        self._alerts = _known_alerts(context) if ran else None

    def head(self) -> list[Line]:
        """What is to be said of all of them."""
        told = self.looked.head() if self.looked is not None else []
        alerts = _alerts_line(self._context, self._alerts) if self._noun == "run" else []
        cut_off = [line(self.results.cut_off)] if self.results is not None and self.results.cut_off else []
        return [*told, *alerts, *cut_off]

    def table(self) -> Table:
        """A row a run; one that cannot be read says why."""
        columns = list(self._columns())
        runs, current = self._context.runs, self._context.current

        def row(at: int) -> Row:
            place = self._places[at]
            number = Span(str(place + 1), Style.NUMBER, _link(place))
            try:
                outline = outline_of(runs, place)
                cells = [column.cell(place, outline) for column in columns]
            except TfdbgError as error:  # deleted meanwhile, or not ours to read
                unknown = [Span("?")] * (len(columns) - 2)
                return (Span(" "), number, *unknown, Span("unreadable", Style.ERROR), Span(error.message))
            return (Span("●" if place == current else " ", Style.GOOD), number, *cells)

        number = Column("N", right=True, width=len(str(len(runs))))
        shown = (Column("", width=1), number, *(column.column for column in columns))
        later = self if self._context.later and self.results is not None else None
        return Table(shown, len(self._places), row, measured=_MEASURED, later=later)

    def missing(self, row: int) -> bool:
        """Whether cells of the row are still to be found out. See `document.later.Later`."""
        return any(one is not None and one.missing(row) for one in (self.looked, self.results))

    def count(self, row: int) -> Iterator[None]:
        """Find out what the row lacks."""
        for one in (self.results, self.looked):
            if one is not None and one.missing(row):
                yield from one.count(row)

    def _columns(self) -> Iterator[_RunColumn]:
        """All but the mark and the number; the last two are those in which a run that cannot be read says so."""
        stop, runs, noun = self._context.stop, self._context.runs, self._noun
        opened = isinstance(stop, Opened)
        workers = isinstance(stop, Opened) and bool(stop.workers)
        if workers:
            yield _RunColumn(Column("Worker"), lambda _, outline: Span(outline.call.worker, Style.LABEL))
        if (looked := self.looked) is not None:
            yield _RunColumn(Column("Health"), lambda place, _: looked.cell(place))
        if (alerts := self._alerts) is not None:
            yield _RunColumn(Column("Alerts", right=True), lambda place, _: _alerts_cell(alerts, place))
        if (results := self.results) is not None and results.width:
            yield _RunColumn(Column("Results", drop=1, width=results.width), lambda place, _: results.cell(place))
        if noun == "run":
            count = Column("Tensors", right=True, drop=2)
            yield _RunColumn(count, lambda place, _: Span(f"{tensor_count(runs, place):,}"))
        elif noun != "profile":
            yield _RunColumn(Column("Nodes", right=True), lambda place, _: Span(f"{len(runs[place].graph):,}"))
        # Before the results are left out it gives way: "passed…" of the run that a watch stopped at says enough.
        end = Column("Error" if opened else "End", drop=0 if noun == "run" else 1, least=_END)
        yield _RunColumn(end, lambda place, outline: _end(self._context, place, outline))
        name = Column({"profile": "Profile", "run": "Run"}.get(noun, "Graph"))
        yield _RunColumn(
            name, lambda place, outline: Span(title_of(runs, place, outline, workers), Style.NAME, _link(place))
        )


def _link(place: int) -> str:
    return f"runs {place + 1}"


@dataclass(frozen=True)
class _Alerts:
    """What `alerts` found at this stop, by the places of runs; it looked through those before `end`.

    Of those `untold` that it looked through there are tensors of which nobody can tell.
    """

    counts: Counter[int]
    end: int
    untold: Set[int] = frozenset()


def _known_alerts(context: Context) -> _Alerts | None:
    """What is known without looking at a value: None where `alerts` was not asked of these runs."""
    count = len(context.runs)
    known: list[_Alerts] = []
    for (runs, nan_only, excluded, most, _), (search, found) in context.memory.alerts.items():
        if runs == count and not nan_only and not excluded:
            end = found[-1].run if most and len(found) > most else count
            known.append(_Alerts(Counter(alert.run for alert in found), end, search.untold))
    return max(known, key=lambda alerts: alerts.end, default=None)


def _alerts_cell(alerts: _Alerts, place: int) -> Span:
    found = alerts.counts[place]
    if place >= alerts.end:
        return Span(f"{found:,}+", Style.NAN) if found else Span("?")
    if not found and place in alerts.untold:
        return Span("?", Style.WARNING)
    return Span(f"{found:,}" if found else "", Style.NAN)


def _alerts_line(context: Context, alerts: _Alerts | None) -> list[Line]:
    """Which runs hold NaN or infinity, as far as that is known, and the way to it."""
    if len(context.runs) < 2:
        return []
    key = Span("alerts", Style.KEY, "alerts")
    if alerts is None:
        return [line("Which of them hold NaN or infinity: ", key)]
    bad = count_text(len(alerts.counts), "run")
    more = f" at least: not looked behind #{alerts.end + 1}" if alerts.end < len(context.runs) else ""
    untold = len({place for place in alerts.untold if place < alerts.end and not alerts.counts[place]})
    unknown = f"; of {count_text(untold, 'other run' if alerts.counts else 'run')} nobody can tell" if untold else ""
    return [line(f"{bad} with NaN or infinity{more}{unknown}: ", key)]


def tensor_count(runs: Sequence[Run], place: int) -> int:
    """How many tensors the run at `place` has. Raises TfdbgError where it cannot be read."""
    return runs.tensor_count(place) if isinstance(runs, TellsOutlines) else len(runs[place].tensors)


def title_of(runs: Sequence[Run], place: int, outline: RunOutline, workers: bool = False) -> str:
    """What was called; without the worker where a column of its own tells `workers`."""
    # A recording tells it of the call; it has no other change.
    what_if = outline.call.what_if_title if isinstance(runs, TellsOutlines) else runs[place].what_if_title
    if what_if:
        return what_if
    return replace(outline.call, worker="").title if workers else outline.call.title


def _end(context: Context, place: int, outline: RunOutline) -> Span:
    """How the run at `place` ended, if in a way worth a word."""
    if outline.error is not None:
        return Span(outline.error.type_name, Style.ERROR, _link(place))
    if outline.cut_off:
        return Span("cut off", Style.WARNING, _link(place))
    stop = context.stop
    if isinstance(stop, RunEnd) and stop.hit is not None and context.runs[place] is stop.run:
        return Span(f"passed {stop.hit.filter_name}", Style.WARNING, _link(place))
    return Span("")
