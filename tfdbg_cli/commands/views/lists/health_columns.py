"""The health of tensors in a list on a screen, each row counted after it was shown: NaN, infinities, size, shape."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.choosing.figures import figure
from tfdbg_cli.commands.context import Context
from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.table import Column
from tfdbg_cli.document.text import Span, Style
from tfdbg_cli.model.statistics import Summary, histogram_in_steps, summarize_in_steps
from tfdbg_cli.model.tensors import recorded_summary
from tfdbg_cli.model.values import LOST, Lack, NoValue, Value

_BINS = 8
_COUNTS = frozenset({"NaN", "±inf"})
_REASONS = frozenset({"min", "|x| max"})  # titles of the columns that say why nothing is known
# As short as the columns are. A handle is none of a number's lacks: its type says that it has no numbers.
_WORDS = {Lack.DAMAGED: "damaged", Lack.GONE: "gone", Lack.UNKNOWN_DTYPE: "unknown", Lack.UNINITIALIZED: "not set"}
TO_COME = Span("…", Style.DIM)
HealthCell = tuple[str, Column, Callable[[int], Span]]  # the name of the column, its head, its cell by index


def health_cells(context: Context) -> list[HealthCell]:
    """The columns, each with its cell for the tensor at an index; one that is to come shows `…`."""
    run, memory = context.current, context.memory

    def column(name: str, title: str, width: int, drop: int) -> HealthCell:
        def cell(index: int) -> Span:
            if (run, index) not in memory.histograms:
                return TO_COME
            summary = memory.summaries[run, index]
            return (
                instead_of(title, memory.lacks.get((run, index))) if summary is None else health_cell(name, summary)
            )

        return name, Column(title, right=True, width=width, drop=drop), cell

    def histogram(index: int) -> Span:
        counts = memory.histograms.get((run, index))
        return TO_COME if counts is None else histogram_cell(counts)

    tracebacks = context.tracebacks

    def source(index: int) -> Span:
        from tfdbg_cli.analysis.graph.flow.last_update import line_of  # most screens are too narrow for this column

        looked_at = context.runs[run]
        frame = line_of(looked_at, looked_at.tensors[index].node) if len(tracebacks) else None
        if frame is None:
            return Span("")
        place = f"{frame.file.rpartition('/')[2]}:{frame.line}"
        return Span(place, Style.LABEL)

    return [
        column("nan", "NaN", 5, 1),
        column("inf", "±inf", 5, 2),
        column("absmax", "|x| max", 9, 8),
        ("histogram", Column("values", width=_BINS, drop=13), histogram),
        ("source", Column("Made at", drop=14), source),
        column("mean", "mean", 10, 16),
        column("std", "std", 9, 17),
        column("zero", "% 0", 4, 18),
    ]


def health_cell(name: str, summary: Summary) -> Span:
    """The cell of the column called `name` where that is known."""
    return _SHOWN[name](summary)


def histogram_cell(counts: Sequence[int]) -> Span:
    """The cell of the column `values`."""
    from tfdbg_cli.document.sparkline import bars  # most lists have no such column

    return Span(bars(counts), Style.NUMBER)


def instead_of(title: str, lack: Lack | None) -> Span:
    """What stands in the column with that title where nothing is known of a tensor: counts may be anything."""
    if title in _COUNTS:
        return Span("?", Style.WARNING) if lack in LOST else Span("")
    word = _WORDS.get(lack, "") if title in _REASONS and lack is not None else ""
    return Span(word, Style.WARNING if lack in LOST else Style.DIM)


def _count(summary: Summary, style: Style, name: str) -> Span:
    number = figure(summary, name)
    if number != number:
        return Span("?", Style.WARNING)
    return Span(short_count(int(number)) if number else "", style)


def short_count(count: int) -> str:
    """A count in five columns: with its comma where there is room for one."""
    if count < 10_000:
        return f"{count:,}"
    if count < 100_000:
        return str(count)
    scaled, unit = count / 1e3, "k"
    for larger in "MGT":
        if scaled < 999.5:
            break
        scaled, unit = scaled / 1e3, larger
    return f"{scaled:.3g}{unit}"


def _number(number: float) -> Span:
    return Span("" if number != number else number_text(number), Style.NUMBER)


def _zeros(summary: Summary) -> Span:
    zeros = figure(summary, "zero")
    if not zeros or zeros != zeros:
        return Span("")
    share = 100 * zeros / summary.size
    return Span("<1" if share < 1 else f"{share:.0f}" if zeros < summary.size else "all", Style.NUMBER)


_SHOWN: dict[str, Callable[[Summary], Span]] = {
    "nan": lambda summary: _count(summary, Style.NAN, "nan"),
    "inf": lambda summary: _count(summary, Style.INF, "inf"),
    "absmax": lambda summary: _number(figure(summary, "absmax")),
    "mean": lambda summary: _number(figure(summary, "mean")),
    "std": lambda summary: _number(figure(summary, "std")),
    "zero": _zeros,
}


def counted(value: Value, summary: Summary | None) -> Generator[None, None, tuple[Summary | None, tuple[int, ...]]]:
    """Count `value` a little at a time: its summary where that is not known yet, and its histogram."""
    counts: tuple[int, ...] = ()
    if not isinstance(value, NoValue):
        if summary is None:
            for found in summarize_in_steps(value):
                summary = found
                yield
        if summary is not None and not summary.unknown:
            for so_far in histogram_in_steps(value, summary, _BINS):
                counts = so_far or ()
                yield
    return summary, counts


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
        known = self._memory.summaries.get(key) or recorded_summary(self._store, index)
        summary, counts = yield from counted(value, known)
        if summary is None and isinstance(value, NoValue):
            self._memory.lacks[key] = value.lack
        self._memory.summaries[key] = summary
        self._memory.histograms[key] = counts


@dataclass(frozen=True, slots=True)
class _Sums:
    """What was counted of a group: what is bad, as a number and in words, and how large the rest is."""

    bad: Span = TO_COME
    words: tuple[Span, ...] = (TO_COME,)
    largest: Span = TO_COME


_NO_SUMS = _Sums()


class SumsLater:
    """Counts what is NaN or infinite in groups of tensors, such as layers: `group` tells those of a row."""

    def __init__(self, context: Context, group: Callable[[int], Sequence[int]]) -> None:
        self._memory, self._run = context.memory, context.current
        self._tensors = CountedLater(context, range(len(context.run.tensors)))
        self._group = group
        self._found: dict[int, _Sums] = {}

    def cell(self, row: int) -> Span:
        """How many elements of the group are so, as far as that is known."""
        return self._found.get(row, _NO_SUMS).bad

    def words(self, row: int) -> tuple[Span, ...]:
        """The same in words, `2 NaN` and `1 ±inf` apart where they were told apart; empty for none."""
        return self._found.get(row, _NO_SUMS).words

    def largest(self, row: int) -> Span:
        """The largest magnitude of a finite element in the group, as far as that is known."""
        return self._found.get(row, _NO_SUMS).largest

    def missing(self, row: int) -> bool:
        return row not in self._found

    def count(self, row: int) -> Iterator[None]:
        """Count the tensors of the group that nobody has counted yet."""
        bad, unknown, largest = 0, False, float("nan")
        nan, inf = 0.0, 0.0  # NaN where some of the group does not tell them apart
        for index in self._group(row):
            if self._tensors.missing(index):
                yield from self._tensors.count(index)
            summary = self._memory.summaries[self._run, index]
            if summary is None:
                unknown = unknown or self._memory.lacks.get((self._run, index)) in LOST
                continue
            unknown = unknown or not summary.tells_nonfinite
            bad += summary.nonfinite
            nan, inf = nan + figure(summary, "nan"), inf + figure(summary, "inf")
            magnitude = figure(summary, "absmax")
            largest = largest if magnitude <= largest or magnitude != magnitude else magnitude
        count = Span("?", Style.WARNING) if unknown else Span(f"{bad:,}" if bad else "", Style.NAN)
        self._found[row] = _Sums(count, _in_words(count, nan, inf), _number(largest))


def _in_words(count: Span, nan: float, inf: float) -> tuple[Span, ...]:
    """`count` in words; of `nan` and `inf` alone what there is, if both are known."""
    if not count.text:
        return ()
    if count.text == "?" or nan != nan or inf != inf:
        return (Span(f"{count.text} NaN or ±inf", count.style),)
    named = ((nan, "NaN", Style.NAN), (inf, "±inf", Style.INF))
    return tuple(Span(f"{int(number):,} {name}", style) for number, name, style in named if number)
