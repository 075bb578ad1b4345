"""The health of tensors in a list on a screen, each row counted after it was shown: NaN, infinities, size, shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tfdbg_cli.analysis.conditions import figure
from tfdbg_cli.analysis.graph.annotation import made_at
from tfdbg_cli.commands.context import Context
from tfdbg_cli.document.sparkline import bars
from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.table import Column
from tfdbg_cli.document.text import Span, Style
from tfdbg_cli.model.statistics import Summary, histogram_in_steps, summarize_in_steps
from tfdbg_cli.model.tensors import recorded_summary
from tfdbg_cli.model.values import NoValue

_BINS = 8
_TO_COME = Span("·", Style.DIM)
HealthCell = tuple[str, Column, Callable[[int], Span]]  # the name of the column, its head, its cell by index


def health_cells(context: Context) -> list[HealthCell]:
    """The columns, each with its cell for the tensor at an index; one that is to come shows a dot."""
    run, memory = context.current, context.memory

    def column(name: str, title: str, width: int, drop: int, show: Callable[[Summary], Span]) -> HealthCell:
        def cell(index: int) -> Span:
            if (run, index) not in memory.histograms:
                return _TO_COME
            summary = memory.summaries[run, index]
            return Span("") if summary is None else show(summary)

        return name, Column(title, right=True, width=width, drop=drop), cell

    def histogram(index: int) -> Span:
        counts = memory.histograms.get((run, index))
        return _TO_COME if counts is None else Span(bars(counts), Style.NUMBER)

    tracebacks = context.tracebacks

    def source(index: int) -> Span:
        frame = made_at(tracebacks, context.runs[run].tensors[index].node) if len(tracebacks) else None
        if frame is None:
            return Span("")
        place = f"{frame.file.rpartition('/')[2]}:{frame.line}"
        return Span(place, Style.LABEL)

    return [
        column("nan", "NaN", 5, 3, lambda s: _count(s, Style.NAN, "nan")),
        column("inf", "±inf", 5, 4, lambda s: _count(s, Style.INF, "inf")),
        column("absmax", "|x| max", 9, 8, lambda s: _number(figure(s, "absmax"))),
        ("histogram", Column("values", width=_BINS, drop=13), histogram),
        ("source", Column("Made at", drop=14), source),
        column("mean", "mean", 10, 15, lambda s: _number(figure(s, "mean"))),
        column("std", "std", 9, 16, lambda s: _number(figure(s, "std"))),
        column("zero", "% 0", 4, 17, _zeros),
    ]


def _count(summary: Summary, style: Style, name: str) -> Span:
    number = figure(summary, name)
    if number != number:
        return Span("?", Style.WARNING)
    return Span(_short(int(number)) if number else "", style)


def _short(count: int) -> str:
    """A count in five columns."""
    return str(count) if count < 100_000 else f"{count:.0e}".replace("e+0", "e")


def _number(number: float) -> Span:
    return Span("" if number != number else number_text(number), Style.NUMBER)


def _zeros(summary: Summary) -> Span:
    zeros = figure(summary, "zero")
    if not zeros or zeros != zeros:
        return Span("")
    share = 100 * zeros / summary.size
    return Span("<1" if share < 1 else f"{share:.0f}" if zeros < summary.size else "all", Style.NUMBER)


class CountedLater:
    """Counts the tensors of the rows that a screen shows: those of `indices`, row by row."""

    def __init__(self, context: Context, indices: Sequence[int]) -> None:
        self._context = context
        self._run = context.current
        self._memory = context.memory
        self._store = context.run.tensors
        self._indices = indices

    def missing(self, row: int) -> bool:
        return (self._run, self._indices[row]) not in self._memory.histograms

    def count(self, row: int) -> Iterator[None]:
        """Count the tensor of the row, and keep what was found for whoever asks next."""
        index = self._indices[row]
        key, value = (self._run, index), self._store.value(index)
        yield
        summary = self._memory.summaries.get(key) or recorded_summary(self._store, index)
        counts: tuple[int, ...] | None = ()
        if not isinstance(value, NoValue):
            if summary is None:
                for counted in summarize_in_steps(value):
                    summary = counted
                    yield
            if summary is not None and not summary.unknown:
                for found in histogram_in_steps(value, summary, _BINS):
                    counts = found
                    yield
        self._memory.summaries[key] = summary
        self._memory.histograms[key] = counts or ()


class SumsLater:
    """Counts what is NaN or infinite in groups of tensors, such as layers: `group` tells those of a row."""

    def __init__(self, context: Context, group: Callable[[int], Sequence[int]]) -> None:
        self._memory, self._run = context.memory, context.current
        self._tensors = CountedLater(context, range(len(context.run.tensors)))
        self._group = group
        self._found: dict[int, tuple[Span, Span]] = {}

    def cell(self, row: int) -> Span:
        """How many elements of the group are so, as far as that is known."""
        return self._found.get(row, (_TO_COME, _TO_COME))[0]

    def largest(self, row: int) -> Span:
        """The largest magnitude of a finite element in the group, as far as that is known."""
        return self._found.get(row, (_TO_COME, _TO_COME))[1]

    def missing(self, row: int) -> bool:
        return row not in self._found

    def count(self, row: int) -> Iterator[None]:
        """Count the tensors of the group that nobody has counted yet."""
        bad, unknown, largest = 0, False, float("nan")
        for index in self._group(row):
            if self._tensors.missing(index):
                yield from self._tensors.count(index)
            summary = self._memory.summaries[self._run, index]
            if summary is None:
                continue
            unknown = unknown or not summary.tells_nonfinite
            bad += summary.nonfinite
            magnitude = figure(summary, "absmax")
            largest = largest if magnitude <= largest or magnitude != magnitude else magnitude
        count = Span("?", Style.WARNING) if unknown else Span(f"{bad:,}" if bad else "", Style.NAN)
        self._found[row] = count, _number(largest)
