"""A list of variables: what stands above it, its columns, its JSON form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tfdbg_cli.analysis.known_variables import KnownVariables
from tfdbg_cli.analysis.variables.listing import PartialShape, Variable
from tfdbg_cli.commands.views.lists.health_columns import TO_COME, counted, health_cell, histogram_cell, instead_of
from tfdbg_cli.commands.views.variables.here import variable_link
from tfdbg_cli.document.summary import number_text, summary_data
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.names import short_device
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.units import bytes_text, count_text, names_text
from tfdbg_cli.model.values import Lack

_NEAR_SHOWN = 2
_REASONS = frozenset({"min", "|x| max"})  # titles of the columns that say why nothing is known
_Cell = tuple[Column, Callable[[int], Span]]


def partial_shape_text(shape: PartialShape | None) -> str:
    """`[?,4]`; `?` where nothing is known."""
    return "?" if shape is None else f"[{','.join('?' if size is None else str(size) for size in shape)}]"


def called_otherwise(variable: Variable) -> str:
    """What the program calls a variable that a checkpoint names by the way to it; empty where that is the same."""
    return "" if variable.full_name == variable.name else variable.full_name


def variable_head(known: KnownVariables) -> list[Line]:
    """How many variables there are and how large, what the run does with them, and what looks wrong."""
    rows = known.rows
    lines = [line(Span(_total("", rows), Style.TITLE))]
    if not rows:
        return [*lines, *(line(Span(text, Style.HINT)) for text in _why_none(known))]
    trained = [one for one in rows if one.trainable]
    slots = [one for one in rows if one.slot_of]
    parts = [_total("trainable: ", trained)] if trained else []
    parts += [_total("slots of optimizers: ", slots)] if slots else []
    lines += [line(part) for part in parts]
    lines += list(_of_run(known))
    unset = [one.name for at, one in enumerate(rows) if known.initialized(at) is False]
    if unset:
        verb = "is" if len(unset) == 1 else "are"
        text = f"{count_text(len(unset), 'variable')} {verb} not initialized: {names_text(unset)}."
        lines.append(line(Span(text, Style.WARNING)))
    if known.near:
        pairs = names_text((f"{name} beside {other}" for name, other in known.near), _NEAR_SHOWN)
        lines.append(line(Span(f"Made twice? Of one shape: {pairs}.", Style.HINT)))
    return lines


def _total(what: str, rows: Sequence[Variable]) -> str:
    """`3 variables; 20 elements; 80 B`, as far as sizes are known."""
    sizes = [one.nbytes for one in rows if one.nbytes is not None]
    elements = [one.elements for one in rows if one.elements is not None]
    found = [f"{what}{count_text(len(rows), 'variable')}"]
    if elements:
        found.append(count_text(sum(elements), "element"))
    if sizes:
        found.append(bytes_text(sum(sizes)))
    unknown = len(rows) - len(sizes)
    return "; ".join([*found, *([f"of {unknown:,} the size is not known"] if unknown and sizes else [])])


def _why_none(known: KnownVariables) -> Sequence[str]:
    if known.run.call.kind is RunKind.CHECKPOINT:
        return known.run.notes or ["This checkpoint holds no variable."]
    if known.run.lacks and not len(known.run.graph):
        return [known.run.lacks]
    return ["Nothing in the graph is a variable."]


def _of_run(known: KnownVariables) -> Iterator[Line]:
    """How many variables the run writes, and how many it only reads."""
    rows = known.rows
    if all(one.read is None and one.written is None for one in rows):
        return
    written = sum(bool(one.written) for one in rows)
    read = sum(bool(one.read) and not one.written for one in rows)
    alone = sum(one.read is False and one.written is False for one in rows)
    parts = [f"writes {written:,}"] * bool(written) + [f"reads {read:,}{' more' * bool(written)}"] * bool(read)
    parts += [f"leaves {alone:,} alone"] * bool(alone)
    yield line(
        f"The run {' and '.join(parts)}." if len(parts) < 3 else f"The run {parts[0]}, {' and '.join(parts[1:])}."
    )


def variable_table(
    known: KnownVariables, shown: Sequence[int], sort_link: Callable[[str], str], *, stats: bool, later: bool = False
) -> Table:
    """The variables at the places `shown`; `sort_link` gives the command that sorts by a key.

    With `stats` there are columns of what they hold; without, where a screen counts `later`, of how they fare.
    """
    counted_later = _CountedLater(known, shown) if later and not stats else None
    cells = [*_facts(known, sort_link), *(_numbers(known) if stats else _health(known) if counted_later else ())]
    if len({one.device for one in known.rows if one.device}) > 1:
        cells.append((Column("Device", drop=5), lambda at: Span(short_device(known.rows[at].device), Style.DEVICE)))
    if any(called_otherwise(one) for one in known.rows):
        cells.append(
            (
                Column("Called", keep_end=True, least=22, drop=5),
                lambda at: Span(called_otherwise(known.rows[at]), Style.DIM),
            )
        )
    cells.append(
        (
            Column("Variable", keep_end=True, subject=True, link=sort_link("name")),
            lambda at: Span(known.rows[at].name, Style.NAME, variable_link(known, at)),
        )
    )
    columns = tuple(column for column, _ in cells)

    def row(i: int) -> list[Span]:
        return [cell(shown[i]) for _, cell in cells]

    return Table(columns, len(shown), row, later=counted_later)


def _facts(known: KnownVariables, sort_link: Callable[[str], str]) -> Iterable[_Cell]:
    def variable(at: int) -> Variable:
        return known.rows[at]

    def trained(at: int) -> Span:
        word = "slot" if variable(at).slot_of else {True: "yes", False: "no", None: ""}[variable(at).trainable]
        return Span(word, Style.PLAIN if variable(at).trainable else Style.DIM)

    yield (
        Column("Size", right=True, drop=4, link=sort_link("size")),
        lambda at: Span(bytes_text(variable(at).nbytes), Style.NUMBER),
    )
    yield Column("dtype", drop=6, link=sort_link("dtype")), lambda at: Span(variable(at).dtype or "?")
    yield Column("Shape", least=8), lambda at: Span(partial_shape_text(variable(at).shape), Style.NUMBER)
    if any(one.trainable is not None or one.slot_of for one in known.rows):
        yield Column("Trainable", drop=3), trained
    if any(one.read is not None or one.written is not None for one in known.rows):
        yield Column("Run", drop=2), lambda at: _use(known, at)


def _use(known: KnownVariables, at: int) -> Span:
    """What the run does with the variable: `rw`; or that it is not initialized."""
    if known.initialized(at) is False:
        return Span("not set", Style.WARNING)
    one = known.rows[at]
    return Span("r" * bool(one.read) + "w" * bool(one.written), Style.LABEL if one.written else Style.DIM)


def _instead_of(known: KnownVariables, at: int, title: str) -> Span:
    """What stands in the column with that title where nothing is known of the value."""
    if known.values.source(at) is None and known.lack(at) is not Lack.UNINITIALIZED:
        return Span("not held" if title in _REASONS else "", Style.DIM)
    return instead_of(title, known.lack(at))


def _numbers(known: KnownVariables) -> Iterable[_Cell]:
    def column(title: str, width: int, show: Callable[[Summary], Span], drop: int = 0) -> _Cell:
        def cell(at: int) -> Span:
            summary = known.summary(at)
            return _instead_of(known, at, title) if summary is None else show(summary)

        return Column(title, right=True, width=width, drop=drop), cell

    def number(value: float | None) -> Span:
        return Span("" if value is None else number_text(value), Style.NUMBER)

    return [
        column("NaN", 5, lambda summary: health_cell("nan", summary)),
        column("±inf", 5, lambda summary: health_cell("inf", summary)),
        column("min", 10, lambda summary: number(summary.min)),
        column("max", 10, lambda summary: number(summary.max)),
        column("mean", 10, lambda summary: number(summary.mean), 7),
    ]


def _health(known: KnownVariables) -> Iterable[_Cell]:
    def column(name: str, title: str, width: int, drop: int) -> _Cell:
        def cell(at: int) -> Span:
            if known.histogram(at) is None:
                return TO_COME
            summary = known.summary(at)
            return _instead_of(known, at, title) if summary is None else health_cell(name, summary)

        return Column(title, right=True, width=width, drop=drop), cell

    def histogram(at: int) -> Span:
        counts = known.histogram(at)
        return TO_COME if counts is None else histogram_cell(counts)

    return [
        column("nan", "NaN", 5, 1),
        column("inf", "±inf", 5, 1),
        column("absmax", "|x| max", 9, 1),
        (Column("values", width=8, drop=8), histogram),
    ]


class _CountedLater:
    """Counts the variables of the rows that a screen shows."""

    def __init__(self, known: KnownVariables, shown: Sequence[int]) -> None:
        self._known = known
        self._shown = shown

    def missing(self, row: int) -> bool:
        return self._known.histogram(self._shown[row]) is None

    def count(self, row: int) -> Iterator[None]:
        """Count the variable of the row, and keep what was found for whoever asks next."""
        at = self._shown[row]
        value = self._known.values.value(at)
        yield
        found = yield from counted(value, self._known.told(at))
        self._known.take(at, *found)


def variable_data(known: KnownVariables, at: int, *, counted: bool) -> dict[str, Any]:
    """The JSON form of a variable, with a summary if it was `counted`; what is not known is null."""
    one = known.rows[at]
    source = known.values.source(at)
    return {
        "name": one.name,
        "dtype": one.dtype or None,
        "shape": None if one.shape is None else list(one.shape),
        "nbytes": one.nbytes,
        "elements": one.elements,
        "trainable": one.trainable,
        "initialized": known.initialized(at),
        "read": one.read,
        "written": one.written,
        "device": one.device or None,
        "layer": known.layer(at) or None,
        "op_type": one.op_type,
        "slot_of": one.slot_of or None,
        "key": one.key or None,
        "full_name": one.full_name or None,
        "tensor": known.tensor(at),
        "value_of": None if source is None else str(source),
        "summary": summary_data(known.summary(at)) if counted else None,
    }


def totals_data(known: KnownVariables) -> dict[str, Any]:
    """What stands above the list, as JSON: of all variables, whatever the list leaves out."""
    trained = [one for one in known.rows if one.trainable]
    return {
        "total": len(known.rows),
        "elements": sum(one.elements or 0 for one in known.rows),
        "nbytes": sum(one.nbytes or 0 for one in known.rows),
        "trainable": {
            "total": len(trained),
            "elements": sum(one.elements or 0 for one in trained),
            "nbytes": sum(one.nbytes or 0 for one in trained),
        },
        "near_duplicates": [list(pair) for pair in known.near],
    }
