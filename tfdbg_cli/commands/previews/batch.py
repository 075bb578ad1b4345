"""The rows of the batch behind an origin: what they hold."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tfdbg_cli.analysis.graph.feeds import fed_value
from tfdbg_cli.analysis.origin.by_health import HealthOrigin
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.previews.feed import array_blocks
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.document.units import count_text
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import tensor_name_of
from tfdbg_cli.model.values import Array, NoValue

_MOST_ROWS = 2
_LISTED = 12  # numbers of rows that are not shown
_MOST_PARTS = 3  # arrays that hold a row of the batch: inputs, targets, weights


def batch_preview(context: Context, options: argparse.Namespace) -> Document:
    """The first rows of the batch that the origin leads back to, as they came in."""
    origin = context.memory.origins.get(context.current)
    if origin is None:
        raise TfdbgError("No origin is known in this run.", hint="`origin` looks for the first one.")
    if isinstance(origin, HealthOrigin) or not origin.batch_rows:
        raise TfdbgError("The origin leads back to no row of a batch.")
    rows = origin.batch_rows
    words = f"{count_text(len(rows), 'row')} of the batch of {origin.batch.size}"
    head = Span(words, Style.TITLE, f"row {rows[0]}")  # of all components together; each below leads to itself
    blocks: list[Block] = [Text((line(head),))]
    for row in rows[:_MOST_ROWS]:
        for name, link, array in _parts(context, origin):
            title = Span(f"{name}[{row}]", Style.TITLE, f"{link} {quoted(f'{name}[{row}]')}")
            blocks += [Text((EMPTY_LINE,)), *array_blocks(context, title, array[row, ...], spread=False)]
    left = len(rows) - _MOST_ROWS
    if left > 0:
        numbers = ", ".join(map(str, rows[_MOST_ROWS : _MOST_ROWS + _LISTED])) + ", …" * (left > _LISTED)
        blocks.append(Text((EMPTY_LINE, line(Span(f"and {count_text(left, 'row')} more: {numbers}", Style.DIM)))))
    data = {"previewed": "batch", "rows": list(rows), "size": origin.batch.size}
    return Document("preview", tuple(blocks), lambda: data, "the batch")


def _parts(context: Context, origin: Origin) -> Iterator[tuple[str, str, Array]]:
    """What holds one row for each of the batch: its name, the command that shows it, all rows."""
    batch, given = origin.batch, context.run.call.given
    if batch.stored:
        return
    found = 0
    for name in given:
        array = fed_value(given, tensor_name_of(name))
        if array is not None and array.shape[:1] == (batch.size,) and found < _MOST_PARTS:
            found += 1
            yield name, "pf", array
    indices = context.run.tensors.named(*_node_and_slot(batch.source)) if not found and batch.source else ()
    of_this = [index for index in indices if context.run.tensors[index].execution == batch.execution]
    value = context.run.tensors.value(of_this[0]) if of_this else None
    if value is not None and not isinstance(value, NoValue) and value.shape[:1] == (batch.size,):
        yield batch.source, "pt", value


def _node_and_slot(name: str) -> tuple[str, int]:
    parsed = tensor_name_of(name)
    return parsed.node, parsed.slot
