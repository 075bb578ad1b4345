"""`row`: one row of every component of the batch together, and the next one that is bad."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.components import Component, components, looks_like_image, singles_first
from tfdbg_cli.analysis.batch.records import is_quickly_told
from tfdbg_cli.analysis.batch.replica import replica_given
from tfdbg_cli.analysis.batch.sample import Sample, sample_of
from tfdbg_cli.commands.asked.batch_choice import chosen_row, found_before, records_of
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.sample_line import sample_data, sample_line
from tfdbg_cli.document.array import ArrayBlock, ArrayStyle, nested
from tfdbg_cli.document.array_words import decoded, is_text
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.summary import chip, summary_data
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.batch_place import Order
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.names import parse_tensor_name
from tfdbg_cli.model.records import Record
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import has_numbers, summarize
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import NoValue

_THRESHOLD = 200  # elements of a component that are shown in full
_LISTED = 12
_SECONDS = 2.0  # to look for the record behind a row; `input` takes longer


def _row(context: Context, options: argparse.Namespace) -> Document:
    batch, at = chosen_row(context, options)
    parts = components(context.run, batch if batch.rows else replace(batch, rows=(at,)))
    if not parts:
        raise TfdbgError(f"The rows of {batch.source} are not held.", hint=_why_not_held(context.run, batch.source))
    context.memory.row[context.current] = at
    sample = sample_of(context.run, batch, at)
    is_asked = sample is not None and (sample.number is None or _comes_from_pipeline(sample))
    record = _record(context, batch, at) if is_asked else None
    told = [] if sample is None else [sample_line(sample, batch.size, record)]
    blocks: list[Block] = [Text((*_head(at, batch, replica_given(context.run, batch.source)), *told))]
    for part in singles_first(parts):
        blocks += _shown(part, at)
    name = f"row {at}"
    return Document("row", tuple(blocks), lambda: _data(context, batch, parts, at, sample), name, command=name)


def _comes_from_pipeline(sample: Sample) -> bool:
    """Whether it is a pipeline of the program that tells the order of the samples, and not Python's."""
    return sample.place.order is Order.PIPELINE and not sample.place.by_python


def _record(context: Context, batch: BatchRows, at: int) -> Record | None:
    """The record behind the row, where `input` found it, or where that takes no functions of the program's."""
    if not is_quickly_told(context.run, batch):
        return found_before(context, batch, at)
    return records_of(context, batch, (at,), _SECONDS).records.get(at)


def _why_not_held(run: Run, source: str) -> str:
    """What to say of a batch without rows: why `source`, which is it, has no value, or the command that shows it."""
    name = parse_tensor_name(source)
    found = () if name is None else run.tensors.named(name.node, name.slot)
    value = run.tensors.value(found[0]) if found else None
    if isinstance(value, NoValue):
        return value.text
    return f"`pt {quoted(source)}` shows it." if source else ""


def _head(at: int, batch: BatchRows, replica: int | None) -> list[Line]:
    bad = at in batch.rows
    title = Span(f"Row {at}", Style.TITLE, f"row {at}")  # chosen first, so that this row is what is previewed
    of_how_many = f" of {batch.size}" if replica is None else f" of the {batch.size} that replica {replica} was given"
    if not batch.rows:
        return [line(title, of_how_many)]
    verdict = Span("bad", Style.NAN) if bad else Span("not behind the origin", Style.DIM)
    lines = [line(title, f"{of_how_many}: ", verdict)]
    spans: list[Span | str] = [Span("Bad rows  ", Style.LABEL)]
    if len(batch.rows) == batch.size > 2:
        spans.append(f"all {batch.size}: ")
    near = sorted(sorted(batch.rows, key=lambda row: abs(row - at))[:_LISTED])
    for row in near:
        spans += [Span(str(row), Style.MARK if row == at else Style.NUMBER, f"row {row}"), " "]
    more = len(batch.rows) - len(near)
    spans += [Span(f"and {more} more", Style.DIM)] if more else []
    lines.append(line(*spans))
    before, after = batch.rows[0] < at, batch.rows[-1] > at
    steps: list[Span | str] = [Span("row --previous", Style.KEY, "row --previous"), "  "] if before else []
    steps += [Span("row --next", Style.KEY, "row --next")] if after else []
    return [*lines, line(*steps)] if steps else lines


def _shown(part: Component, at: int) -> list[Block]:
    row = part.row(at)
    place = part.place(at)
    head: list[Span | str] = [Span(place, Style.NAME, f"{'pf' if part.fed else 'pt'} {quoted(place)}")]
    head += [f"  used as {part.words}"] if part.words else []
    if is_text(row) and not row.ndim:
        text = str(decoded(row.item()))
        shown = [Span(text, Style.STRING)] if text.strip() else [Span(repr(text), Style.STRING), "  no text"]
        return [Text((EMPTY_LINE, line(*head), line("  ", *shown)))]
    what: list[Span | str] = ["  ", Span("a picture: v looks at it", Style.HINT)] if looks_like_image(row) else []
    top = Text((EMPTY_LINE, line(*head), line("  ", *chip(row, name_of(row.dtype)).spans, *what)))
    name = f"{place}, {part.words}" if part.words else place
    return [top, ArrayBlock(row, ArrayStyle(threshold=_THRESHOLD), name=name)] if row.ndim else [top]


def _data(
    context: Context, batch: BatchRows, parts: list[Component], at: int, sample: Sample | None
) -> dict[str, Any]:
    found = []
    for part in parts:
        row = part.row(at)
        value, elided = nested(row, ArrayStyle(threshold=context.settings.array_threshold))
        summary = summary_data(summarize(row)) if has_numbers(row) else None
        found.append(
            {
                "name": part.name, "role": part.role or None, "key": part.key or None,
                "dtype": name_of(row.dtype), "shape": list(row.shape),
                "image": looks_like_image(row), "summary": summary, "value": value, "elided": elided,
            }
        )  # fmt: skip
    return {
        "row": at, "bad": at in batch.rows, "size": batch.size, "bad_rows": list(batch.rows),
        "replica": replica_given(context.run, batch.source), "sample": sample_data(sample), "components": found,
    }  # fmt: skip


COMMAND = Command(
    "row",
    (),
    "One row of the batch, of all its components together: inputs, labels, weights.",
    _row,
    (
        Argument(("number",), "the row, from 0; without it the first bad one", metavar="N", type=int, nargs="?"),
        Argument(("--next",), "the next bad row behind the one shown last", switch=True),
        Argument(("--previous",), "the bad row before it", switch=True),
    ),
    moments=WITH_TENSORS,
    values=True,
    details=f"""\
Bad rows are those that `origin` follows the offending elements back to; row N shows any row of the batch.
Components are what was fed or given with the batch, of as many rows; texts are shown as such. Of a sparse or ragged
one it is the elements that the row holds. On the screen ] and [ step to the next bad row and back, and v looks at a
component, as a picture where it looks like one. Sample says which one of the epoch the row is, where that is known:
from Keras' fit, evaluate and predict, or from an iterator over a dataset that the program asks itself. `input` looks
for the record behind it.
{count_text(_THRESHOLD, "element")} of a component are shown here; its name leads to all of it.

Examples:
  row
  row 17
  row --next""",
)
