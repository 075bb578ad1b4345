"""`history`: one tensor over the runs that are kept or recorded, as a curve and a table."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdbg_cli.analysis.choosing.known_figures import Known, known_figure
from tfdbg_cli.analysis.many_runs.tensor_history import Point, Statistic, TensorHistory, tensor_history
from tfdbg_cli.commands.asked.followed_tensor import FollowedTensor, followed
from tfdbg_cli.commands.asked.tensor_choice import sliced
from tfdbg_cli.commands.context import HOW_TO_KEEP_RUNS, Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import Left, PlainRows
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, ArgumentKind, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.alerts import nonfinite_text
from tfdbg_cli.commands.views.other_calls import made_left_out, of_other_calls
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.plot import PLOT_LINES, Plot
from tfdbg_cli.document.summary import nonfinite_style, number_span, number_text, summary_data
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.runs import Opened
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.units import count_text

_TITLES = {
    Statistic.ABSMAX: "|x| max",
    Statistic.MIN: "min",
    Statistic.MAX: "max",
    Statistic.MEAN: "mean",
    Statistic.STD: "std",
    Statistic.NAN: "NaN",
}
_ENDS = {"min", "max"}
_MADE_OF = {Statistic.ABSMAX: _ENDS, Statistic.MIN: _ENDS, Statistic.MAX: _ENDS}  # the others: of themselves
_DROPPED_FIRST = (Statistic.STD, Statistic.MEAN, Statistic.MIN, Statistic.MAX)


def _history(context: Context, options: argparse.Namespace) -> Document:
    if options.above is not None and math.isnan(options.above):
        raise TfdbgError("Nothing is above NaN.", hint="Write a number, such as --above 1e4.")
    everything = "" if options.all else COMMAND.spell(options, all=True)
    what = followed(context, options.tensor_name, options.device, everything)
    found = _found(context, options, what)
    left = _ROWS.left(options.query, found.points, COMMAND.spell(options, query=""))
    return _Screen(context, options, what, found, left).document()


def _found(context: Context, options: argparse.Namespace, what: FollowedTensor) -> TensorHistory:
    """The history; that shown last where a query is asked of it, for one that is typed asks with each key."""
    key = what.key, options.device, options.number, options.all, context.current, len(context.runs)
    if not options.query or key not in context.memory.histories:
        same, slicing = context.call.same, what.choice.slicing
        context.memory.histories[key] = tensor_history(
            context.runs,
            what.tensor,
            wanted=lambda run: not run.what_if_title and (options.all or run.call.same == same),
            part=(lambda array: sliced(array, slicing)) if slicing else None,
            execution=options.number,
            name_in=what.name_in if options.all else None,
        )
    return context.memory.histories[key]


def _figure(name: str) -> Callable[[Point], Known]:
    """What tells the figure `name` of a run, as far as it is known; NaN where there is none."""

    def tell(point: Point) -> Known:
        if point.summary is None:
            return None if point.lack else math.nan
        return known_figure(point.summary, name)

    return tell


_ROWS = PlainRows[Point](
    "a run of a tensor",
    lambda point: f"#{point.number}",
    numbers={
        "run": lambda point: point.number,
        **{
            name: _figure(name)
            for name in ("nan", "inf", "bad", "neg", "zero", "pos", "min", "max", "absmax", "mean", "std")
        },
    },
    elements=_figure("size"),
)


class _Screen:
    """What `history` shows."""

    def __init__(
        self,
        context: Context,
        options: argparse.Namespace,
        what: FollowedTensor,
        found: TensorHistory,
        left: Left[Point],
    ) -> None:
        self._context = context
        self._name = what.title
        self._node = node_of(what.choice.name)
        self._found = found
        self._left = left
        self._points = left.rows
        self._statistic = Statistic(options.statistic)
        self._log: bool | None = True if options.log else None
        self._everything = "" if options.all else COMMAND.spell(options, all=True)
        self._above: float | None = options.above
        self._first = None if options.above is None else found.first_above(self._statistic, options.above)

    def document(self) -> Document:
        """A sentence, a curve, a table."""
        points = self._points
        head = self._head()
        blocks: list[Block] = [Text(tuple(head))]
        known = [point for point in points if point.summary is not None and self._is_told(point.summary)]
        heights = np.array([self._height(point) for point in known])
        drawn = len(known) > 1 and (not self._untold_summaries() or bool(np.isfinite(heights).any()))
        if drawn:
            blocks.append(Plot(heights, (f"#{known[0].number}", f"#{known[-1].number}"), self._log))
        if points:
            blocks += [Text((EMPTY_LINE,)), Table(self._columns(), len(points), self._row)]
        title = self._left.title(f"history {self._name}")
        first = len(head) + (PLOT_LINES if drawn else 0) + 2  # the line of the first run
        return Document(
            "history", tuple(blocks), self._data, title, self._focus(first), stays=1 if drawn and points else None
        )

    def _focus(self, first: int) -> int | None:
        """A screen begins at the run looked at; a stream has all of them. `first` is the line of the first run."""
        places = [point.place for point in self._points] if self._context.later else []
        return first + places.index(self._context.current) if self._context.current in places else None

    def _is_told(self, summary: Summary) -> bool:
        """Whether the statistic may be made of what `summary` tells, or a NaN stands for it."""
        made_of = _MADE_OF.get(self._statistic, {str(self._statistic)})
        return not summary.unknown & made_of or (summary.nonfinite > 0 and self._statistic is not Statistic.NAN)

    def _height(self, point: Point) -> float:
        """The statistic; NaN as soon as one element is, so that the curve shows it."""
        value = point.value(self._statistic)
        spoiled = self._statistic is not Statistic.NAN and point.summary is not None and point.summary.nan
        return math.nan if value is None or spoiled else value

    def _head(self) -> list[Line]:
        found = self._found
        title = line(
            Span("Tensor ", Style.LABEL),
            Span(self._name, Style.TITLE),
            f" in {count_text(len(found.points), 'run')}: {_TITLES[self._statistic]}",
        )
        lines = [title, *self._left.head]
        if self._above is not None:
            lines.append(self._answer(self._above))
        if found.without:
            lines.append(line(Span(f"{count_text(found.without, 'run')} without it.", Style.DIM)))
        if found.unreadable:
            lines.append(line(Span(f"{count_text(found.unreadable, 'run')} cannot be read.", Style.WARNING)))
        followed = len(found.points) + found.without + found.unreadable
        lines += [*of_other_calls(self._context, followed, self._everything), *made_left_out(self._context)]
        if self._untold_summaries():
            lines.append(self._untold())
        if self._points and all(point.summary is None and not point.is_lost for point in self._points):
            why = "It holds no numbers in any of them; what reads it may: "
            lines.append(line(Span(why, Style.HINT), self._readers()))
        if len(found.points) < 2 and len(self._context.runs) < 2:
            hint = "Only one run is here."
            if not isinstance(self._context.stop, Opened):
                hint += f" {HOW_TO_KEEP_RUNS}"
            lines.append(line(Span(hint, Style.HINT)))
        return lines

    def _untold_summaries(self) -> list[Summary]:
        """What was recorded where that does not tell the statistic."""
        told = [point.summary for point in self._points if point.summary is not None]
        return [summary for summary in told if not self._is_told(summary)]

    def _untold(self) -> Line:
        """That the statistic was not recorded, and what was."""
        untold = self._untold_summaries()
        runs = f" of {count_text(len(untold), 'run')}" if len(untold) < len(self._points) else ""
        lack = f"{_TITLES[self._statistic]}{runs} was not recorded, nor the values that it could be taken of"
        if any("nan" in summary.unknown for summary in untold):
            return line(Span(f"{lack}.", Style.HINT))
        command = f"history {quoted(self._name)} -s nan"
        return line(Span(f"{lack}; counts were: ", Style.HINT), Span(command, Style.KEY, command))

    def _readers(self) -> Span:
        command = f"lo {quoted(self._node)}"
        return Span(command, Style.KEY, command)

    def _answer(self, limit: float) -> Line:
        what = f"{_TITLES[self._statistic]} above {number_text(limit)}"
        if self._first is None:
            return line(Span(f"In no run is {what}.", Style.GOOD))
        oldest = " It is the oldest run here: it may have been so before." if self._at_begin() else ""
        link = f"runs {self._first.place + 1}"
        return line(
            Span(f"{what} first in ", Style.WARNING),
            Span(f"run #{self._first.number}", Style.NAME, link),
            f".{oldest}",
        )

    def _at_begin(self) -> bool:
        return bool(self._found.points) and self._first is self._found.points[0]

    def _shown(self) -> list[Statistic]:
        """The statistics in columns: the one asked for in front, its fellows behind it."""
        rest = [each for each in Statistic if each is not self._statistic and each is not Statistic.NAN]
        return [self._statistic, *rest]

    def _columns(self) -> tuple[Column, ...]:
        drops = {each: 9 - place for place, each in enumerate(_DROPPED_FIRST)}
        numbers = [
            Column(_TITLES[each], right=True, drop=drops.get(each, 0) if place else 0)
            for place, each in enumerate(self._shown())
        ]
        return (Column("", width=1), Column("Run", right=True), *numbers, Column("Non-finite"))

    def _row(self, i: int) -> Row:
        point = self._points[i]
        link = f"runs {point.place + 1}"
        here = Span("●" if point.place == self._context.current else " ", Style.GOOD)
        cells = [here, Span(f"#{point.number}", Style.NAME, link)]
        cells += [self._number(point, each) for each in self._shown()]
        return (*cells, _nonfinite(point))

    def _number(self, point: Point, statistic: Statistic) -> Span:
        value = point.value(statistic)
        if value is None:
            return Span("–", Style.DIM)
        shown = number_span(value)
        above = self._above is not None and statistic is self._statistic and value > self._above
        text = f"{int(value):,}" if statistic is Statistic.NAN else shown.text
        return Span(text, Style.WARNING if above and shown.style is Style.NUMBER else shown.style)

    def _data(self) -> dict[str, Any]:
        points = [
            {
                "run": point.number,
                "place": point.place + 1,
                "value": point.value(self._statistic),
                "summary": summary_data(point.summary),
                "executions": point.executions,
            }
            for point in self._points
        ]
        return {
            "tensor": self._name,
            "statistic": str(self._statistic),
            "above": self._above,
            "first_above": self._first.number if self._first else None,
            "without": self._found.without,
            "unreadable": self._found.unreadable,
            "points": points,
            **self._left.data,
        }


def _nonfinite(point: Point) -> Span:
    summary = point.summary
    if summary is None:
        return Span("" if point.lack is None else point.lack.text, Style.WARNING)
    if summary.any_nonfinite is None:
        return Span("not recorded", Style.DIM)
    return Span(nonfinite_text(summary), nonfinite_style(summary))


COMMAND = Command(
    "history",
    (),
    "One tensor over the runs that are kept or recorded.",
    _history,
    (
        Argument(("tensor_name",), "node, node:slot or node:slot[slice]", ArgumentKind.TENSOR, metavar="TENSOR"),
        Argument(
            ("-s", "--statistic"),
            "the number to follow",
            choices=tuple(map(str, Statistic)),
            default=Statistic.ABSMAX.value,
        ),
        Argument(("--above",), "in which run it was first larger than X", metavar="X", type=float),
        Argument(("-n", "--number"), "only this execution in a loop, from 0; all together without it", type=int),
        Argument(("-a", "--all"), "runs of other functions too, where they hold a tensor of that name", switch=True),
        QUERY_ARGUMENT,
        Argument(("--log",), "a logarithmic scale; without it only where the numbers lie far apart", switch=True),
        Argument(("--device",), "the device, where the tensor is on several", ArgumentKind.DEVICE, default=""),
    ),
    moments=WITH_TENSORS,
    values=True,
    details="""\
The runs are those of a recording, or those kept before a stop (`run -f FILTER --keep N`), as far as they call the
same function as the run looked at. A variable is followed as it is after its update, and where the run looked at does
not show that, as it was read. A result may go by what the program calls it, as `runs` shows it. Infinite elements
count for absmax, min and max; mean and std are of the others.

Examples:
  history loss                        the largest magnitude of the loss, run by run
  history dense/MatMul --above 1e4    and in which run it was first above 1e4
  history loss -q 'nan>0 or run<10'   only these runs: by number, or by what the tensor holds in them
  history w[0] -s std                 the spread of the first row""",
)
