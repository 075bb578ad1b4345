"""`input`: which records of the program's data stand behind the rows of the batch."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.commands.asked.batch_choice import any_batch, bad_batch, records_of
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import tensor_name_of
from tfdbg_cli.model.records import FoundRecords, Record
from tfdbg_cli.model.units import count_text

_SET = "The batch holds what `set` gave it, in place of what came in."
_SECONDS = 10.0
_MOST = 1_000  # rows looked for at once
_ROWS = re.compile(r"(\d+)(?:(:)(\d+)?)?")


def _input(context: Context, options: argparse.Namespace) -> Document:
    batch = bad_batch(context) if options.rows is None else any_batch(context)
    rows = _chosen(options.rows, batch)
    found = records_of(context, batch, rows[:_MOST], options.seconds)
    if tensor_name_of(batch.source) in context.run.replaced:
        found = replace(found, notes=(_SET, *found.notes))
    rows = rows[:_MOST]
    blocks: list[Block] = [Text((*_head(batch, rows, found, cut=options.rows is None), EMPTY_LINE))]
    if found.records:
        blocks.append(Table(_columns(found), len(rows), lambda at: _row(rows[at], batch, found)))
    else:
        blocks = [Text(tuple(_head(batch, rows, found, cut=options.rows is None)))]
    return Document("input", tuple(blocks), lambda: _data(batch, rows, found), "input")


def _chosen(text: str | None, batch: BatchRows) -> Sequence[int]:
    """The rows asked for: those of a range, the bad ones first, or all bad ones."""
    if text is None:
        return batch.rows
    read = _ROWS.fullmatch(text.strip())
    if read is None:
        raise TfdbgError(f"Cannot read the rows {text!r}.", hint="Write: input 3, or input 3:7, which ends before 7.")
    first = int(read[1])
    end = first + 1 if read[2] is None else batch.size if read[3] is None else min(int(read[3]), batch.size)
    if first >= batch.size:
        raise TfdbgError(f"There is no row {first}: the batch has {batch.size}, from 0.")
    if end <= first:
        raise TfdbgError(f"The rows {text} are none: they end before they begin.")
    bad = set(batch.rows)
    return sorted(range(first, end), key=lambda row: row not in bad)


def _head(batch: BatchRows, rows: Sequence[int], found: FoundRecords, *, cut: bool) -> list[Line]:
    bad = sum(row in set(batch.rows) for row in rows)
    what = count_text(len(rows), "bad row" if bad == len(rows) else "row")
    more = len(batch.rows) - len(rows) if cut else 0
    source = Span(batch.source, Style.NAME, f"pt {quoted(batch.source)}")
    lines = [line(Span("Records", Style.TITLE), f" behind {what} of {batch.size}, which came in as ", source)]
    lines += [line(note) for note in found.notes]
    if more > 0:
        lines.append(line(Span(f"And {more:,} more: `input N:M` chooses others.", Style.HINT)))
    return lines


def _columns(found: FoundRecords) -> tuple[Column, ...]:
    told = found.records.values()
    return (
        Column("Row", right=True),
        Column("Bad", drop=3),
        Column("Record", right=True, subject=True),
        *([Column("Alike", right=True, drop=2)] if any(one.alike > 1 for one in told) else []),
        *([Column("Key", least=6)] if any(one.key for one in told) else []),
        *([Column("File", keep_end=True)] if any(one.file for one in told) else []),
    )


def _row(row: int, batch: BatchRows, found: FoundRecords) -> Row:
    record = found.records.get(row, _UNKNOWN)
    told = found.records.values()
    number = Span("?", Style.DIM) if record.record is None else Span(f"{record.record:,}", Style.NUMBER, f"row {row}")
    return (
        Span(f"{row:,}", Style.NUMBER, f"row {row}"),
        Span("bad", Style.NAN) if row in batch.rows else Span(""),
        number,
        *([Span(f"{record.alike:,}" if record.alike > 1 else "")] if any(one.alike > 1 for one in told) else []),
        *([Span(record.key, Style.NAME)] if any(one.key for one in told) else []),
        *([Span(record.file)] if any(one.file for one in told) else []),
    )


_UNKNOWN = Record(None)


def _data(batch: BatchRows, rows: Sequence[int], found: FoundRecords) -> dict[str, Any]:
    told = [(row, found.records.get(row, _UNKNOWN)) for row in rows]
    return {
        "size": batch.size,
        "source": batch.source,
        "rows": [
            {
                "row": row, "bad": row in batch.rows, "file": one.file or None, "record": one.record,
                "key": one.key or None, "alike": one.alike,
            }
            for row, one in told
        ],
        "notes": list(found.notes),
    }  # fmt: skip


def _seconds(text: str) -> float:
    with suppress(ValueError):
        if (found := float(text)) > 0:
            return found
    raise argparse.ArgumentTypeError(f"a number of seconds above 0 is needed, not {text!r}")


COMMAND = Command(
    "input",
    (),
    "Which records of the program's data stand behind the rows of the batch.",
    _input,
    (
        Argument(
            ("rows",), "the rows, from 0: 3, or 3:7 without 7; without it the bad ones", metavar="N:M", nargs="?"
        ),
        Argument(("-s", "--seconds"), "how long to look", metavar="S", type=_seconds, default=_SECONDS),
    ),
    moments=WITH_TENSORS,
    values=True,
    details="""\
Bad rows are those that `origin` follows the offending elements back to; of rows that are chosen they come first.
Records count from 0 in the array or the file, as the program would index it. Of arrays that fit and its like were
given the record is known by its place where they are not shuffled. Where they are, the rows are looked for in them by
all that they hold, bit by bit; if several records are alike, the first one is named, and how many there are.
The key is what the program calls the array or the feature. `argument x` is an array that it calls nothing: an
expression in a call, such as fit(x[::-1], y), and the record is one of what that gave.
Nothing that the program holds is copied, or kept alive. What the batch was made of is noted where Python takes it
from an iterator of TensorFlow 2, and where a method of Keras is given arrays: not where next(iterator) stands in a
tf.function, of iterators of sessions, or under a distribution strategy.

What came from a data set (tf.data) is looked for in what that was made of: the records of arrays, of TFRecord, text
and fixed-length files, also interleaved, and files that a map reads. They are run through the maps of the pipeline
once more, by an iterator of its own, and compared bit by bit. Where a map behind batch fills them up to one width, as
to_tensor does, the zeros or empty texts at their ends are not compared: they go by what else was in the batch. A map
that draws random numbers or calls Python of the program is not run again, and that is told.

Examples:
  input
  input 17
  input 0:8 --seconds 60""",
)
