"""Variables that have no pair in another place, with what they may be there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfdbg_cli.analysis.variables.listing import Variable
from tfdbg_cli.analysis.variables.renames import VariableRename
from tfdbg_cli.commands.views.variables.table import called_otherwise, partial_shape_text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import Span, Style
from tfdbg_cli.model.units import bytes_text

_LEAST = 22  # columns of a name


def unpaired_table(
    rows: Sequence[Variable],
    others: Sequence[Variable],
    places: Sequence[int],
    suggested: Mapping[int, VariableRename],
) -> Table:
    """The variables at `places` of `rows`; before what holds the same in `others` stands an equals sign.

    `Called` is what the program called what a checkpoint names by the way to it.
    """
    called = any(called_otherwise(rows[at]) for at in places)
    slots = any(rows[at].slot_of for at in places)

    def row(i: int) -> Row:
        one, rename = rows[places[i]], suggested.get(places[i])
        perhaps = "" if rename is None else f"{'= ' * rename.same_values}{others[rename.other].name}"
        return (
            Span(bytes_text(one.nbytes), Style.NUMBER),
            Span(one.dtype or "?"),
            Span(partial_shape_text(one.shape), Style.NUMBER),
            *([Span("slot" if one.slot_of else "", Style.DIM)] if slots else []),
            *([Span(perhaps, Style.HINT)] if suggested else []),
            *([Span(called_otherwise(one), Style.DIM)] if called else []),
            Span(one.name, Style.NAME),
        )

    columns = (
        Column("Size", right=True, drop=4),
        Column("dtype", drop=3),
        Column("Shape", least=8),
        *([Column("", width=4, drop=5)] if slots else []),
        *([Column("Perhaps", keep_end=True, least=_LEAST, drop=1)] if suggested else []),
        *([Column("Called", keep_end=True, least=_LEAST, drop=2)] if called else []),
        Column("Variable", keep_end=True, subject=True),
    )
    return Table(columns, len(places), row)


def unpaired_data(one: Variable, others: Sequence[Variable], suggested: VariableRename | None) -> dict[str, Any]:
    """The JSON form of such a variable."""
    return {
        "name": one.name,
        "dtype": one.dtype or None,
        "shape": None if one.shape is None else list(one.shape),
        "nbytes": one.nbytes,
        "slot_of": one.slot_of or None,
        "key": one.key or None,
        "full_name": one.full_name or None,
        "suggestion": None if suggested is None else others[suggested.other].name,
        "same_values": None if suggested is None else suggested.same_values,
    }


def turned(suggested: Mapping[int, VariableRename]) -> Mapping[int, VariableRename]:
    """The same suggestions, seen from the other place."""
    return {one.other: VariableRename(at, one.same_values) for at, one in suggested.items()}
