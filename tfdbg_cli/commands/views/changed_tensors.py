"""What `again` changed: the tensors that are not what they were, in the order of execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfdbg_cli.analysis.difference.changes import Difference, DifferenceKind
from tfdbg_cli.commands.views.links import tensor_link
from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import Span, Style
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Tensor

_STYLES = {
    DifferenceKind.BECAME_FINITE: Style.GOOD,
    DifferenceKind.BECAME_NONFINITE: Style.ERROR,
    DifferenceKind.VALUES: Style.DIM,
}


def changed_table(first: Run, second: Run, found: Sequence[Difference]) -> Table:
    """The tensors that changed as a table, in order of execution."""
    looped = any(_tensor(first, second, item).execution > 0 for item in found)

    def row(at: int) -> Row:
        item = found[at]
        tensor = _tensor(first, second, item)
        link = "" if item.second is None else tensor_link(second.tensors, item.second)
        counted = item.kind in {DifferenceKind.VALUES, DifferenceKind.BECAME_FINITE, DifferenceKind.BECAME_NONFINITE}
        cells = [
            Span(f"{item.count:,} of {item.size:,}" if counted else "", Style.NUMBER),
            Span(number_text(item.max_abs) if item.max_abs else "", Style.NUMBER),
            Span(number_text(item.max_rel) if item.max_rel else "", Style.NUMBER),
            Span("" if item.kind is DifferenceKind.VALUES else str(item.kind), _STYLES.get(item.kind, Style.WARNING)),
        ]
        if looped:
            cells.append(Span(str(tensor.execution), Style.NUMBER))
        return [*cells, Span(str(tensor.name), Style.NAME, link)]

    columns = [
        Column("Elements", right=True, drop=1),
        Column("max abs", right=True),
        Column("max rel", right=True, drop=2),
        Column("Change"),
    ]
    if looped:
        columns.append(Column("Exec", right=True, width=4))
    return Table((*columns, Column("Tensor name", keep_end=True)), len(found), row)


def changed_data(first: Run, second: Run, found: Sequence[Difference]) -> Mapping[str, Any]:
    """The JSON form: `first`, the name of the first tensor that differs, and `pairs`."""
    pairs = []
    for item in found:
        tensor = _tensor(first, second, item)
        pairs.append(
            {
                "name": str(tensor.name),
                "execution": tensor.execution,
                "device": tensor.device,
                "op_type": tensor.op_type,
                "change": str(item.kind),
                "differing": item.count,
                "size": item.size,
                "max_abs": item.max_abs,
                "max_rel": item.max_rel,
            }
        )
    return {"first": pairs[0]["name"] if pairs else None, "pairs": pairs}


def _tensor(first: Run, second: Run, item: Difference) -> Tensor:
    if item.second is not None:
        return second.tensors[item.second]
    assert item.first is not None
    return first.tensors[item.first]
