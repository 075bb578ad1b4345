"""Tables of a difference: tensors with their errors, inputs side by side, changes of the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from tfdbg_cli.analysis.difference.compared import Gap, TensorChange, TensorFate, Verdict
from tfdbg_cli.analysis.difference.comparison import Comparison
from tfdbg_cli.analysis.difference.divergence import InputGap
from tfdbg_cli.analysis.difference.graph_changes import GraphChange, What
from tfdbg_cli.commands.views.links import node_link
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.model.units import count_text, shape_text
from tfdbg_cli.model.values import NoValue, Value

Link = Callable[[tuple[int | None, int | None]], str]

_STYLES = {TensorChange.BECAME_FINITE: Style.GOOD, TensorChange.BECAME_NONFINITE: Style.ERROR}
_STATES = {TensorFate.NEW: "of its own", TensorFate.FOLLOWS: "follows", TensorFate.GROWN: "rounding"}
_INPUT_STATES = {
    TensorFate.EQUAL: "equal", TensorFate.ROUNDED: "rounding", TensorFate.GROWN: "rounding grown",
    TensorFate.NEW: "differs", TensorFate.FOLLOWS: "differs", TensorFate.OTHER_WAY: "differs",
    TensorFate.OWN_DATA: "differs", TensorFate.UNKNOWN: "not known",
}  # fmt: skip


def number(value: float) -> str:
    """An error with three digits; nothing for 0."""
    return f"{value:.3g}" if value else ""


def change_text(comparison: Comparison, one: Verdict) -> str:
    """How far two tensors lie apart, in words: largest errors, elements, shapes."""
    gap = one.gap
    assert gap is not None
    tensors = [run.tensors[row] for run, row in zip(comparison.runs, one.rows, strict=True)]
    if gap.change is TensorChange.SHAPE:
        return f"the shapes differ: {shape_text(tensors[0].shape)} in A, {shape_text(tensors[1].shape)} in B"
    if gap.change is TensorChange.DTYPE:
        return f"the types differ: {tensors[0].dtype} in A, {tensors[1].dtype} in B"
    errors = gap.errors
    parts = [f"{errors.beyond:,} of {count_text(errors.size, 'element')} differ{'s' * (errors.beyond == 1)}"]
    if errors.size == 1:
        values = [run.tensors.value(row) for run, row in zip(comparison.runs, one.rows, strict=True)]
        parts = [f"{_only(values[0])} in A, {_only(values[1])} in B"]
    if errors.max_abs:
        parts += [f"max abs {number_text(errors.max_abs)}", f"max rel {number_text(errors.max_rel)}"]
    if errors.max_ulp:
        parts.append(f"max ULP {number_text(errors.max_ulp)}")
    if gap.change is not TensorChange.VALUES:
        parts.append(str(gap.change))
    return ", ".join(parts)


def _only(value: Value) -> str:
    """The only element of an array."""
    element = None if isinstance(value, NoValue) else value.reshape(-1)[0]
    return number_text(float(element)) if isinstance(element, np.floating) else str(element)


def tensor_table(comparison: Comparison, found: Sequence[Verdict], link: Link) -> Table:
    """The tensors that differ, in that order."""
    runs = comparison.runs
    looped = any(runs[0].tensors[one.rows[0]].execution for one in found)

    def row(at: int) -> Row:
        one = found[at]
        ours, theirs = (run.tensors[row] for run, row in zip(runs, one.rows, strict=True))
        name = str(ours.name) if ours.name == theirs.name else f"{ours.name} → {theirs.name}"
        cells = [*_error_cells(one.gap), _what(one)]
        if looped:
            cells.append(Span(str(ours.execution), Style.NUMBER))
        return [*cells, Span(name, Style.NAME, link(one.rows))]

    columns = [*_ERRORS, Column("Change")]
    if looped:
        columns.append(Column("Exec", right=True, width=4))
    return Table((*columns, Column("Tensor name", keep_end=True)), len(found), row)


def input_table(inputs: Sequence[InputGap], link: Link) -> Table:
    """What the two ops read, input by input, with the errors between."""

    def row(at: int) -> Row:
        one = inputs[at]
        name = one.names[0] if one.names[0] == one.names[1] else f"{one.names[0]} → {one.names[1]}"
        said = "other tensor" if one.other else _INPUT_STATES[one.state]
        style = Style.GOOD if said == "equal" else Style.WARNING if said in {"differs", "other tensor"} else Style.DIM
        return [*_error_cells(one.gap), Span(said, style), Span(name, Style.NAME, link(one.rows))]

    return Table((*_ERRORS, Column("Input is"), Column("Inputs", keep_end=True)), len(inputs), row)


_ERRORS = (
    Column("Elements", right=True, drop=1),
    Column("max abs", right=True),
    Column("max rel", right=True, drop=2),
    Column("max ULP", right=True, drop=3),
)


def _error_cells(gap: Gap | None) -> list[Span]:
    if gap is None or gap.change in {TensorChange.SHAPE, TensorChange.DTYPE}:
        return [Span("")] * len(_ERRORS)
    errors = gap.errors
    return [
        Span(f"{errors.beyond:,} of {errors.size:,}" if errors.beyond else "", Style.NUMBER),
        Span(number(errors.max_abs), Style.NUMBER),
        Span(number(errors.max_rel), Style.NUMBER),
        Span(number(errors.max_ulp or 0.0), Style.NUMBER),
    ]


def _what(one: Verdict) -> Span:
    assert one.gap is not None
    if one.gap.change is not TensorChange.VALUES:
        return Span(str(one.gap.change), _STYLES.get(one.gap.change, Style.WARNING))
    return Span(_STATES[one.state], Style.WARNING if one.state is TensorFate.NEW else Style.DIM)


def graph_table(
    changes: Sequence[GraphChange], link: Callable[[GraphChange], str], *, renamed: bool = False
) -> tuple[Block, ...]:
    """The changes of the graph, and how many there are of each kind; `link` gives the node that one leads to.

    `renamed` says that nodes which are pairs have other names.
    """
    if not changes:
        text = f"The graphs are the same{', but for names' if renamed else ''}."
        return (Text((line(Span(text, Style.GOOD)),)),)
    counts = Counter(change.what for change in changes)
    said = ", ".join(f"{counts[what]:,} {what}" for what in What if counts[what])

    def row(at: int) -> Row:
        change = changes[at]
        shown = link(change)
        names = [name for name in dict.fromkeys((change.first, change.second)) if name]
        return [
            Span(str(change.what), Style.WARNING),
            Span(change.op_type, Style.OP),
            Span(" → ".join(names), Style.NAME, node_link(shown) if shown else ""),
            Span(change.text, Style.DIM),
        ]

    columns = (Column("Op"), Column("Op type"), Column("Node", least=20, keep_end=True), Column("What"))
    head = Text((line(Span("Graphs: ", Style.TITLE), f"{said}."), EMPTY_LINE))
    return head, Table(columns, len(changes), row)
