"""`runs`: the runs of a recording, or those kept before a stop."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TypeVar

from tfdbg_cli.commands.asked.run_choice import place_of_run
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.memory import KnownRuns, RunFacts
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import Left, PlainRows
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command, Outcome, Registry
from tfdbg_cli.commands.views.lists.run_columns import RunColumns, tensor_count, title_of
from tfdbg_cli.commands.views.opening import opening_command
from tfdbg_cli.commands.views.run_health import LookedAt, is_bad
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened, Run, RunEnd, RunStart, number_of, outline_of
from tfdbg_cli.model.units import count_text

T = TypeVar("T")


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
what is intended (a mask of -inf, gradients of a step that loss scaling skips) or ignored, as far as that is found
out in a moment; of a bad run the origin is shown first. A run is harmless if what comes out of it is finite, or was
there before, or the program wrote it down: a watch goes past it. `alerts` looks through all. Results are the single
numbers that a run gave the program, such as its loss, by the names that the program has for them. A query asks a run
for its name, its number (`run`), its `tensors` and its `worker`: where several workers recorded together runs stand
in the order of time.

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
    left = _left(context, query)
    places = left.rows
    told = RunColumns(context, places)
    head = [*_head(context), *told.head(), *left.head, EMPTY_LINE]
    blocks = (Text(tuple(head)), told.table()) if places else (Text(tuple(head)),)
    focus = _focus(context, places, told.looked)
    return Document(
        "runs",
        blocks,
        lambda: {**_data(context, places, told), **left.data},
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
        return self._known(self._kept.tensors, place, tensor_count)

    def _known(self, kept: dict[int, T], place: int, ask: Callable[[Sequence[Run], int], T]) -> T:
        found = kept.get(place)
        if found is None:
            found = ask(self._runs, place)
            if place < self._stays:
                kept[place] = found
        return found


def _facts(runs: Sequence[Run], place: int) -> RunFacts:
    outline = outline_of(runs, place)
    return RunFacts(title_of(runs, place, outline), outline.call.worker)


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


def _data(context: Context, places: Sequence[int], told: RunColumns) -> dict[str, object]:
    stop, runs = context.stop, context.runs
    path = stop.path if isinstance(stop, Opened) else None
    notes = [] if isinstance(stop, RunStart) else list(stop.notes)
    rows = [{"number": i + 1, **_run_data(runs, i, told), **_health_data(told.looked, i)} for i in places]
    return {"path": path, "current": context.current + 1, "notes": notes, "runs": rows}


def _health_data(looked: LookedAt | None, place: int) -> dict[str, object]:
    """Nothing where there is but one run; null where nobody has looked."""
    return {} if looked is None else {"health": looked.known(place)}


def _run_data(runs: Sequence[Run], index: int, told: RunColumns) -> dict[str, object]:
    try:
        run = runs[index]
    except TfdbgError as error:
        return {
            "title": None,
            "run": None,
            "tensors": None,
            "nodes": None,
            **({} if told.results is None else {"results": None}),
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
        **({} if told.results is None else {"results": told.results.data(index)}),
        "error": run.error.type_name if run.error else None,
        "cut_off": run.cut_off,
        "notes": list(run.notes),
    }
