"""Rows of a batch, of all its components: those behind an origin, or the one that is asked for."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from tfdbg_cli.analysis.batch.components import Component, components, singles_first
from tfdbg_cli.analysis.origin.by_health import HealthOrigin
from tfdbg_cli.commands.asked.batch_choice import chosen_row
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.previews.feed import array_blocks
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.units import count_text

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
    parts = components(context.run, origin.batch)[:_MOST_PARTS]
    for row in rows[:_MOST_ROWS]:
        blocks += _row_blocks(context, parts, row)
    left = len(rows) - _MOST_ROWS
    if left > 0:
        numbers = ", ".join(map(str, rows[_MOST_ROWS : _MOST_ROWS + _LISTED])) + ", …" * (left > _LISTED)
        blocks.append(Text((EMPTY_LINE, line(Span(f"and {count_text(left, 'row')} more: {numbers}", Style.DIM)))))
    data = {"previewed": "batch", "rows": list(rows), "size": origin.batch.size}
    return Document("preview", tuple(blocks), lambda: data, "the batch")


def row_preview(context: Context, options: argparse.Namespace) -> Document:
    """One row of the batch as `row` shows it, its components drawn.

    Raises:
        TfdbgError: there is no such row, or no bad one.

    """
    batch, at = chosen_row(context, options)
    verdict = Span("bad" if at in batch.rows else "", Style.NAN)
    parts = components(context.run, batch if batch.rows else replace(batch, rows=(at,)))
    head = line(Span(f"row {at}", Style.TITLE, f"row {at}"), f" of {batch.size}  ", verdict)
    blocks: list[Block] = [Text((head,))]
    blocks += _row_blocks(context, parts[:_MOST_PARTS], at)
    data = {"previewed": f"row {at}", "bad": at in batch.rows, "size": batch.size}
    return Document("preview", tuple(blocks), lambda: data, f"row {at}")


def _row_blocks(context: Context, parts: Sequence[Component], row: int) -> list[Block]:
    """That row of all `parts`; single numbers, such as labels, stand above what is drawn."""
    blocks: list[Block] = []
    for part in singles_first(parts):
        place = part.place(row)
        title = Span(place, Style.TITLE, f"{'pf' if part.fed else 'pt'} {quoted(place)}")
        blocks += [Text((EMPTY_LINE,)), *array_blocks(context, title, part.row(row), spread=False)]
    return blocks
