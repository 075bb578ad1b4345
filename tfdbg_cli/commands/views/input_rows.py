"""The inputs of a node on the screen: name, op type, what they hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.commands.views.links import node_link, tensor_link
from tfdbg_cli.commands.views.short_names import AS_THEY_ARE, ShortNames
from tfdbg_cli.commands.views.variable_view import untold_link
from tfdbg_cli.document.cells import clip_start, display_width
from tfdbg_cli.document.labels import LABEL_WIDTH
from tfdbg_cli.document.summary import chip, number_text
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.document.wrapping import Labelled
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import any_nonfinite, has_numbers
from tfdbg_cli.model.units import shape_text
from tfdbg_cli.model.values import Array

_MOMENTS = re.compile(r" μ=\S+ σ=\S+")
_NONFINITE = re.compile(r"(NaN×[\d,]+|\bnan\b)|([+-]?\binf(?:×[\d,]+|\b))")
_FEW = 6  # elements shown in full
_LEAST_NAME = 12  # columns of a name, of which the end is kept


def input_rows(
    run: Run,
    inputs: Sequence[InputSeen],
    label: str = "From",
    names: ShortNames = AS_THEY_ARE,
    label_width: int = LABEL_WIDTH,
) -> InputRows:
    """One row for each of `inputs` behind a column with `label`."""

    def cells(item: InputSeen) -> tuple[Span, Span, Span]:
        name = Span(names.short(str(item.name)), Style.NAME, _value_link(run, item))
        op_type = item.node.op_type if item.node else "?"
        return name, Span(op_type, Style.OP, node_link(item.node.name) if item.node else ""), _holds(item)

    return InputRows(label, label_width, tuple(map(cells, inputs)))


@dataclass(frozen=True)
class InputRows:
    """Name, op type and content of each input; on a narrow screen the content stands below, where there is room."""

    label: str
    label_width: int
    cells: tuple[tuple[Span, Span, Span], ...]

    def lines(self, width: int | None) -> Sequence[Line]:
        return [_marked(row) for row in self._lines(width)]

    def _lines(self, width: int | None) -> Sequence[Line]:
        columns = (Column("", width=self.label_width - 2), Column(""), Column(""), Column(""))
        if width is None or self._wide() <= width:
            rows = [(self._head(i), *cells) for i, cells in enumerate(self.cells)]
            return Table(columns, len(rows), rows.__getitem__, show_head=False).lines(width)
        found: list[Line] = []
        for i, (name, op_type, content) in enumerate(self.cells):
            room = width - self.label_width - display_width(op_type.text) - 2
            shown = replace(name, text=clip_start(name.text, max(_LEAST_NAME, room)))
            found.append(
                line(self._head(i), Span(" " * (self.label_width - len(self._head(i).text))), shown, "  ", op_type)
            )
            found += Labelled("", content.text, content.style, self.label_width + 2).lines(width)
        return found

    def _head(self, i: int) -> Span:
        return Span(self.label if i == 0 else "", Style.LABEL)

    def _wide(self) -> int:
        """Columns that it takes side by side."""
        widest = (max((display_width(cells[j].text) for cells in self.cells), default=0) for j in range(3))
        return self.label_width + sum(widest) + 4


def _marked(row: Line) -> Line:
    """`row` with what it says of NaN and infinities in their styles."""
    spans: list[Span] = []
    for span in row.spans:
        if span.style is not Style.PLAIN:
            spans.append(span)
            continue
        parts = _NONFINITE.split(span.text)
        styles = (Style.PLAIN, Style.NAN, Style.INF)
        spans += [replace(span, text=part, style=styles[at % 3]) for at, part in enumerate(parts) if part]
    return replace(row, spans=tuple(spans))


def _value_link(run: Run, item: InputSeen) -> str:
    if item.index is not None:
        return tensor_link(run.tensors, item.index)
    if item.value is not None:
        return untold_link(run, item.name, item.node)
    return node_link(item.node.name) if item.node else ""


def _holds(item: InputSeen) -> Span:
    if item.value is None:
        return Span(item.note, Style.DIM)
    dtype = item.tensor.dtype if item.tensor is not None else name_of(item.value.dtype)
    through = f" (as {item.instead})" if item.instead else ""
    return Span(f"{_short(item.value, dtype) or _told(item.value, dtype)}{through}")


def _told(value: Array, dtype: str) -> str:
    """The chip; without moments where it counts NaN and infinities, which a narrow screen must not cut off."""
    text = chip(value, dtype).text
    return _MOMENTS.sub("", text) if any_nonfinite(value) else text


def _short(value: Array, dtype: str) -> str:
    """A few numbers in full, `int32[2] [3, 5]`; an empty text where a summary says more."""
    if value.ndim != 1 or not 0 < value.size <= _FEW or not has_numbers(value) or value.dtype.kind == "c":
        return ""
    return f"{dtype}{shape_text(value.shape)} [{', '.join(number_text(float(number)) for number in value)}]"


def input_data(item: InputSeen) -> dict[str, Any]:
    """The JSON form: {name, dtype, shape, note}; dtype and shape are null for an input that was not seen."""
    value = item.value
    return {
        "name": str(item.name),
        "dtype": None if value is None else item.tensor.dtype if item.tensor is not None else name_of(value.dtype),
        "shape": None if value is None else list(value.shape),
        "note": item.note,
    }
