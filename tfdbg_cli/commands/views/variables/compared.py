"""The page about the variables of two places beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tfdbg_cli.analysis.variable_differences import Differing, VariableChange, VariablesCompared
from tfdbg_cli.analysis.variables.listing import Variable
from tfdbg_cli.commands.views.variables.saved import VariableSide
from tfdbg_cli.commands.views.variables.table import partial_shape_text
from tfdbg_cli.commands.views.variables.unpaired import turned, unpaired_data, unpaired_table
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.model.units import count_text


def compared_document(
    first: VariableSide,
    second: VariableSide,
    found: VariablesCompared,
) -> Document:
    """The page: what differs, and what only one has."""
    blocks: list[Block] = [Text((*_head(first, second, found), EMPTY_LINE))]
    if found.differing:
        blocks += [_changes(first, second, found.differing), Text((EMPTY_LINE,))]
    names = _nouns(first, second)
    for side, other, places, of_first in (
        (first, second, found.pairs.only_first, True),
        (second, first, found.pairs.only_second, False),
    ):
        if places:
            ours, theirs = names if of_first else names[::-1]
            head = f"In {ours} and not in {theirs}: {count_text(len(places), 'variable')}"
            suggested = found.suggested if of_first else turned(found.suggested)
            blocks.append(Text((line(Span(head, Style.HEADING)),)))
            blocks.append(unpaired_table(side.variables.rows, other.variables.rows, places, suggested))
            blocks.append(Text((EMPTY_LINE,)))
    return Document("checkpoint", tuple(blocks), lambda: _data(first, second, found), "checkpoint")


def _nouns(first: VariableSide, second: VariableSide) -> tuple[str, str]:
    return ("A", "B") if first.noun == second.noun else (first.noun, second.noun)


def _head(first: VariableSide, second: VariableSide, found: VariablesCompared) -> Iterator[Line]:
    for letter, side in (("A", first), ("B", second)):
        rows = side.variables.rows
        what = f"{side.variables.run.call.title}: {count_text(len(rows), 'variable')}"
        yield line(Span(f"{letter}  ", Style.LABEL), Span(side.name, Style.TITLE), f"  {what}")
        for note in side.notes:
            yield line(Span(f"   {note}", Style.WARNING if note in side.damages else Style.HINT))
    yield EMPTY_LINE
    with_gaps = [letter for letter, side in (("A", first), ("B", second)) if side.gaps]
    if found.same and not (found.unread or with_gaps):
        pairs = len(found.pairs.pairs)
        values = f"of the same shapes; {found.valued:,} with the same values"
        if found.valued == 0:
            values = "of the same shapes; no values are compared"
        elif found.valued == pairs:
            values = "with the same values"
        yield line(Span(f"Both have the same {count_text(pairs, 'variable')}, {values}.", Style.GOOD))
        if 0 < found.valued < pairs:
            yield line(Span("Of the others shapes and dtypes are compared: not both have values.", Style.HINT))
    else:
        names = _nouns(first, second)
        verb = "differs" if len(found.pairs.pairs) == 1 else "differ"
        parts = [f"{len(found.differing):,} of {count_text(len(found.pairs.pairs), 'pair')} {verb}"]
        parts += [
            f"{len(found.pairs.only_first):,} only in {names[0]}",
            f"{len(found.pairs.only_second):,} only in {names[1]}",
        ]
        yield line(Span(f"{', '.join(parts)}.", Style.WARNING))
        if not (found.valued or found.unread) and found.pairs.pairs:
            yield line(Span("Shapes and dtypes are compared: not both have values.", Style.HINT))
    if with_gaps:
        text = f"{' and '.join(with_gaps)} may have more variables than can be read."
        yield line(Span(text, Style.WARNING))
    if found.unread:
        name = first.variables.rows[found.unread[0]].name
        text = f"Of {count_text(len(found.unread), 'pair')} a value cannot be read, {name} the first."
        yield line(Span(text, Style.WARNING))


def _changes(first: VariableSide, second: VariableSide, changes: Sequence[Differing]) -> Table:
    ours, theirs = first.variables.rows, second.variables.rows

    def row(i: int) -> Row:
        one = changes[i]
        errors = one.errors
        numbers = ("", "", "", "")
        if errors is not None:
            numbers = (
                f"{errors.unequal:,} of {errors.size:,}",
                number_text(errors.max_abs),
                number_text(errors.max_rel),
                "" if errors.max_ulp is None else number_text(errors.max_ulp),
            )
        mine, other = ours[one.first], theirs[one.second]
        name = mine.name if mine.name == other.name else f"{mine.name} | {other.name}"
        return (
            Span(_what(one, mine, other), Style.WARNING),
            *(Span(text, Style.NUMBER) for text in numbers),
            Span(name, Style.NAME),
        )

    columns = (
        Column("Change", least=12),
        Column("Elements", right=True, drop=2),
        Column("max abs", right=True),
        Column("max rel", right=True, drop=1),
        Column("max ULP", right=True, drop=3),
        Column("Variable", keep_end=True, subject=True),
    )
    return Table(columns, len(changes), row)


def _what(one: Differing, mine: Variable, other: Variable) -> str:
    if one.change is VariableChange.SHAPE:
        return f"{partial_shape_text(mine.shape)} → {partial_shape_text(other.shape)}"
    if one.change is VariableChange.DTYPE:
        return f"{mine.dtype} → {other.dtype}"
    if one.nan[0] != one.nan[1]:
        return f"NaN in {'AB'[one.nan[1] > one.nan[0]]}"
    if one.errors is not None and one.errors.unequal == one.zeros > 0:
        return "sign of zero"
    return "NaN or inf" if one.errors is not None and one.errors.nonfinite else "values"


def _data(first: VariableSide, second: VariableSide, found: VariablesCompared) -> dict[str, Any]:
    ours, theirs = first.variables.rows, second.variables.rows
    back = turned(found.suggested)
    apart = {one.first for one in found.differing}.union(found.unread)
    return {
        "path": first.name,
        "other": second.name,
        "of": str(second.variables.run.call.kind),
        "same": found.same,
        "variables": [
            {"a": ours[at].name, "b": theirs[other].name, "equal": at not in apart} for at, other in found.pairs.pairs
        ],
        "equal": len(found.pairs.pairs) - len(found.differing),
        "values_compared": found.valued,
        "unread": [ours[at].name for at in found.unread],
        "different": [_change_data(one, ours[one.first], theirs[one.second]) for one in found.differing],
        "only_a": [unpaired_data(ours[at], theirs, found.suggested.get(at)) for at in found.pairs.only_first],
        "only_b": [unpaired_data(theirs[at], ours, back.get(at)) for at in found.pairs.only_second],
        "notes": [*first.notes, *second.notes],
    }


def _change_data(one: Differing, mine: Variable, other: Variable) -> dict[str, Any]:
    errors = one.errors
    return {
        "a": mine.name,
        "b": other.name,
        "change": str(one.change),
        "dtype_a": mine.dtype or None,
        "dtype_b": other.dtype or None,
        "shape_a": None if mine.shape is None else list(mine.shape),
        "shape_b": None if other.shape is None else list(other.shape),
        "nan_a": one.nan[0],
        "nan_b": one.nan[1],
        "zeros": one.zeros,
        "size": None if errors is None else errors.size,
        "differing": None if errors is None else errors.unequal,
        "nonfinite": None if errors is None else errors.nonfinite,
        "max_abs": None if errors is None else errors.max_abs,
        "max_rel": None if errors is None else errors.max_rel,
        "max_ulp": None if errors is None else errors.max_ulp,
    }
