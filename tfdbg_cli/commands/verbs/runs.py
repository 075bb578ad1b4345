"""`runs`: the runs of a recording, or those kept before a stop."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tfdbg_cli.commands.asked.run_choice import place_of_run
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.memory import KnownRuns, RunFacts
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import Left, PlainRows
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command, Outcome, Registry
from tfdbg_cli.commands.views.opening import opening_command
from tfdbg_cli.commands.views.run_health import LookedAt, is_bad
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened, Run, RunEnd, RunOutline, RunStart, TellsOutlines, number_of, outline_of
from tfdbg_cli.model.units import count_text

T = TypeVar("T")

_MEASURED = 2_000  # rows of a printed list that are all read to line its columns up: each is a run on disk


def commands(registry: Registry) -> tuple[Command, ...]:
    """The command `runs`; to show the run it selects it needs the others in `registry`."""

    def run(context: Context, options: argparse.Namespace) -> Outcome:
        if options.number is None:
            return _list(context, options.query)
        if options.query:
            raise TfdbgError("-q narrows the list; one run is none.", hint="Write: runs -q QUERY")
        context.select_run(place_of_run(context, options.number))
        return execute(_opening(context), context, registry)

    command = Command(
        "runs",
        (),
        "List the runs of a recording, or those kept before this stop, or look at one.",
        run,
        (
            Argument(
                ("number",),
                "the run to look at: its place in the list, from 1, or its number in the program behind a #",
                metavar="N",
                nargs="?",
            ),
            QUERY_ARGUMENT,
        ),
        moments=WITH_TENSORS,
        section="Look",
        details="""\
After `run -f FILTER --keep N` these are the N runs before the hit and the hit itself. `older` and `newer` step from
one to the next; every list and value is then that of the run looked at. Health says in which something is bad beyond
what is intended (a mask of -inf) or ignored, as far as that is found out in a moment; `alerts` looks through all, and
of a bad run the origin is shown first. A query asks a run for its name, its number
(`run`), its `tensors` and its `worker`: where several workers recorded together runs stand in the order of time.

Examples:
  runs 3
  runs #26
  runs -q 'step tensors>100'
  runs -q worker:chief0""",
    )
    return (command,)


def _opening(context: Context) -> str:
    """The command whose document a user sees first of the run looked at: of a bad one the origin."""
    command = opening_command(RunEnd(context.run))
    return "origin" if command == "lt" and is_bad(context, context.current) else command


def _list(context: Context, query: str) -> Document:
    runs = context.runs
    noun = context.stop.noun if isinstance(context.stop, Opened) else "run"
    of_graphs, of_profiles = noun != "run", noun == "profile"
    workers = isinstance(context.stop, Opened) and bool(context.stop.workers)
    left = _left(context, query)
    places = left.rows
    alerts = None if of_graphs else _known_alerts(context)
    looked = None if of_graphs or len(runs) < 2 else LookedAt(context, places)

    def row(at: int) -> Row:
        i = places[at]
        link = f"runs {i + 1}"
        number = Span(str(i + 1), Style.NUMBER, link)
        try:
            outline = outline_of(runs, i)
            count = 0 if of_profiles else len(runs[i].graph) if of_graphs else _tensor_count(runs, i)
        except TfdbgError as error:  # deleted meanwhile, or not ours to read
            unknown = (Span("?"),) * ((not of_profiles) + workers + (alerts is not None) + (looked is not None))
            return (Span(" "), number, *unknown, Span("unreadable", Style.ERROR), Span(error.message))
        here = Span("●" if i == context.current else " ", Style.GOOD)
        return (
            here,
            number,
            *((Span(outline.call.worker, Style.LABEL),) if workers else ()),
            *((looked.cell(i),) if looked is not None else ()),
            *((_alerts_cell(alerts, i),) if alerts is not None else ()),
            *(() if of_profiles else (Span(f"{count:,}"),)),
            _end(context, i, outline, link),
            Span(_title(runs, i, outline, workers), Style.NAME, link),
        )

    columns = (
        Column("", width=1),
        Column("N", right=True, width=len(str(len(runs)))),
        *((Column("Worker"),) if workers else ()),
        *((Column("Health"),) if looked is not None else ()),
        *((Column("Alerts", right=True),) if alerts is not None else ()),
        *(() if of_profiles else (Column("Nodes" if of_graphs else "Tensors", right=True),)),
        Column("Error" if isinstance(context.stop, Opened) else "End", drop=1 if of_graphs else 0),
        Column("Profile" if of_profiles else "Graph" if of_graphs else "Run"),
    )
    table = Table(columns, len(places), row, measured=_MEASURED, later=looked if context.later else None)
    told = looked.head() if looked is not None else []
    head = [*_head(context), *told, *([] if of_graphs else _alerts_line(context, alerts)), *left.head, EMPTY_LINE]
    blocks = (Text(tuple(head)), table) if places else (Text(tuple(head)),)
    focus = _focus(context, places, looked)
    return Document(
        "runs",
        blocks,
        lambda: {**_data(context, places, looked), **left.data},
        left.title("runs"),
        None if focus is None else len(head) + 1 + focus,
    )


def _focus(context: Context, places: Sequence[int], looked: LookedAt | None) -> int | None:
    """The row at which a screen begins: the run looked at, before any was chosen the first bad one."""
    if not context.later:
        return None  # a stream has all of them
    first_bad = None if looked is None else looked.first_bad
    place = context.current if context.current > 0 or first_bad is None else first_bad
    return places.index(place) if place > 0 and place in places else None


@dataclass(frozen=True)
class _Alerts:
    """What `alerts` found at this stop, by the places of runs; it looked through those before `end`."""

    counts: Counter[int]
    end: int


def _known_alerts(context: Context) -> _Alerts | None:
    """What is known without looking at a value: None where `alerts` was not asked of these runs."""
    count = len(context.runs)
    known: list[_Alerts] = []
    for (runs, nan_only, excluded, most, _), (_, found) in context.memory.alerts.items():
        if runs == count and not nan_only and not excluded:
            cut_off = bool(most) and len(found) > most
            known.append(_Alerts(Counter(alert.run for alert in found), found[-1].run if cut_off else count))
    return max(known, key=lambda alerts: alerts.end, default=None)


def _alerts_cell(alerts: _Alerts, place: int) -> Span:
    found = alerts.counts[place]
    if place >= alerts.end:
        return Span(f"{found:,}+", Style.NAN) if found else Span("?")
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
    return [line(f"{bad} with NaN or infinity{more}: ", key)]


def _left(context: Context, query: str) -> Left[int]:
    """The places of the runs that `query` admits; one that cannot be read has no facts, and is not admitted."""
    runs = context.runs
    if not query:
        return Left(range(len(runs)), len(runs), query, "runs")
    known = _Known(context)
    rows = PlainRows[int](
        "a run",
        lambda i: known.facts(i).title,
        {"worker": lambda i: known.facts(i).worker},
        {"run": known.number, "tensors": known.tensors},
        lost=(TfdbgError,),  # deleted meanwhile, or not ours to read
    )
    return rows.left(query, range(len(runs)), "runs")


class _Known:
    """What a query can ask of the runs, by their places, found out when it does; kept of runs that stay."""

    def __init__(self, context: Context) -> None:
        stop = context.stop
        growing = stop.growing if isinstance(stop, Opened) else None
        self._kept = context.memory.runs
        if growing is not None and growing.changed != self._kept.changed:
            self._kept = context.memory.runs = KnownRuns(growing.changed)
        self._runs = context.runs
        # The last one may grow.
        self._stays = len(stop.runs) - (growing is not None) if isinstance(stop, Opened) else 0

    def facts(self, place: int) -> RunFacts:
        """What the call of the run was. Raises TfdbgError where the run cannot be read."""
        return self._known(self._kept.facts, place, _facts)

    def number(self, place: int) -> int:
        """The number of its call. Raises TfdbgError where the run cannot be read."""
        return self._known(self._kept.numbers, place, number_of)

    def tensors(self, place: int) -> int:
        """How many tensors the run has. Raises TfdbgError where the run cannot be read."""
        return self._known(self._kept.tensors, place, _tensor_count)

    def _known(self, kept: dict[int, T], place: int, ask: Callable[[Sequence[Run], int], T]) -> T:
        found = kept.get(place)
        if found is None:
            found = ask(self._runs, place)
            if place < self._stays:
                kept[place] = found
        return found


def _facts(runs: Sequence[Run], place: int) -> RunFacts:
    outline = outline_of(runs, place)
    return RunFacts(_title(runs, place, outline), outline.call.worker)


def _tensor_count(runs: Sequence[Run], place: int) -> int:
    return runs.tensor_count(place) if isinstance(runs, TellsOutlines) else len(runs[place].tensors)


def _title(runs: Sequence[Run], place: int, outline: RunOutline, workers: bool = False) -> str:
    """What was called; without the worker where a column of its own tells `workers`."""
    change = None if isinstance(runs, TellsOutlines) else runs[place].change  # of what is on disk nothing is changed
    if change:
        return change.title
    return replace(outline.call, worker="").title if workers else outline.call.title


def _head(context: Context) -> list[Line]:
    stop = context.stop
    count = count_text(len(context.runs), stop.noun if isinstance(stop, Opened) else "run")
    if isinstance(stop, Opened):
        whose = f" of {count_text(len(stop.workers), 'worker')}" if stop.workers else ""
        first = line(f"{count}{whose} in ", Span(stop.path, Style.NAME), ":")
    elif len(context.runs) == 1:
        first = line("1 run: no other was kept (", Span("run -f FILTER --keep N", Style.KEY), " keeps them).")
    else:
        first = line(count, ", the oldest first:")
    notes = () if isinstance(stop, RunStart) else stop.notes
    return [first, *(line(Span(note, Style.WARNING)) for note in notes)]


def _end(context: Context, place: int, outline: RunOutline, link: str) -> Span:
    """How the run at `place` ended, if in a way worth a word."""
    if outline.error is not None:
        return Span(outline.error.type_name, Style.ERROR, link)
    if outline.cut_off:
        return Span("cut off", Style.WARNING, link)
    stop = context.stop
    if isinstance(stop, RunEnd) and stop.hit is not None and context.runs[place] is stop.run:
        return Span(f"passed {stop.hit.filter_name}", Style.WARNING, link)
    return Span("")


def _data(context: Context, places: Sequence[int], looked: LookedAt | None) -> dict[str, object]:
    stop, runs = context.stop, context.runs
    path = stop.path if isinstance(stop, Opened) else None
    notes = [] if isinstance(stop, RunStart) else list(stop.notes)
    rows = [{"number": i + 1, **_run_data(runs, i), **_health_data(looked, i)} for i in places]
    return {"path": path, "current": context.current + 1, "notes": notes, "runs": rows}


def _health_data(looked: LookedAt | None, place: int) -> dict[str, object]:
    """Nothing where there is but one run; null where nobody has looked."""
    return {} if looked is None else {"health": looked.known(place)}


def _run_data(runs: Sequence[Run], index: int) -> dict[str, object]:
    try:
        run = runs[index]
    except TfdbgError as error:
        return {
            "title": None,
            "run": None,
            "tensors": None,
            "nodes": None,
            "error": None,
            "cut_off": False,
            "notes": [error.message],
        }
    return {
        "title": run.call.title,
        "run": run.call.number,
        **({"worker": run.call.worker} if run.call.worker else {}),
        "tensors": len(run.tensors),
        "nodes": len(run.graph),
        "error": run.error.type_name if run.error else None,
        "cut_off": run.cut_off,
        "notes": list(run.notes),
    }
