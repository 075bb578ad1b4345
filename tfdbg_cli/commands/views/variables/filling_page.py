"""The page about what a checkpoint would fill of a program's variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tfdbg_cli.analysis.variables.filling import Filling
from tfdbg_cli.analysis.variables.listing import Variable
from tfdbg_cli.commands.views.variables.saved import VariableSide
from tfdbg_cli.commands.views.variables.table import partial_shape_text
from tfdbg_cli.commands.views.variables.unpaired import turned, unpaired_data, unpaired_table
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.model.units import count_text, names_text

_BY_OBJECTS = "Paired by objects, as tf.train.Checkpoint restores."
_BY_NAMES = "Paired by names, as a Saver restores."
_OUTSIDE = "No tf.train.Checkpoint of the program leads to {}:"
_ELSEWHERE = "Only another tf.train.Checkpoint of the program leads to {}:"
_NO_ROOT = "Paired by names: the program has no tf.train.Checkpoint, whose objects would tell."


def filling_document(side: VariableSide, program: str, moment: str, found: Filling) -> Document:
    """The page; `program` was asked for its variables at `moment`, a clause."""
    saved = side.variables.rows
    blocks: list[Block] = [Text((*_head(side, program, moment, found), EMPTY_LINE))]
    if found.misfits:
        blocks += [
            Text((line(Span("Of another shape or dtype, where restoring fails:", Style.HEADING)),)),
            _misfits(found, saved),
            Text((EMPTY_LINE,)),
        ]
    for text, rows, others, places, suggested in (
        ("The checkpoint does not fill {}:", found.rows, saved, found.not_filled, found.suggested),
        ("Nothing in the program takes {}:", saved, found.rows, found.not_taken, turned(found.suggested)),
        (_ELSEWHERE, found.rows, saved, found.elsewhere, found.suggested),
        (_OUTSIDE, found.rows, saved, found.outside, found.suggested),
    ):
        if places:
            head = text.format(count_text(len(places), "variable"))
            blocks.append(Text((line(Span(head, Style.HEADING)),)))
            blocks.append(unpaired_table(rows, others, places, suggested))
            blocks.append(Text((EMPTY_LINE,)))
    return Document("checkpoint", tuple(blocks), lambda: _data(side, program, moment, found), "checkpoint")


def _head(side: VariableSide, program: str, moment: str, found: Filling) -> Iterator[Line]:
    saved = side.variables.rows
    what = f"  {side.variables.run.call.title}: {count_text(len(saved), 'variable')}"
    yield line(Span(side.name, Style.TITLE), what)
    for note in side.notes:
        yield line(Span(note, Style.WARNING if note in side.damages else Style.HINT))
    yield line(Span(program, Style.TITLE), f"  {count_text(len(found.rows), 'variable')}, {moment}")
    yield line(Span(_how(side, found), Style.HINT))
    if found.by_objects and (found.roots > 1 or found.elsewhere):
        yield line(Span(_which(found), Style.HINT))
    yield EMPTY_LINE
    full = len(found.pairs) - len(found.misfits)
    if found.whole:
        root = "this" if found.elsewhere else "a" if found.outside else ""
        which = f" that {root} tf.train.Checkpoint leads to" if root else ""
        text = f"All {count_text(full, 'variable')}{which} would be filled, and every value taken."
        yield line(Span(text, Style.GOOD))
        return
    text = f"{full:,} of {count_text(len(found.rows), 'variable')} of the program would be filled."
    yield line(Span(text, Style.WARNING))


def _how(side: VariableSide, found: Filling) -> str:
    if found.by_objects:
        return _BY_OBJECTS
    return _NO_ROOT if any(one.key for one in side.variables.rows) else _BY_NAMES


def _which(found: Filling) -> str:
    """Which of the checkpoint objects of the program was taken."""
    children = names_text(found.root) or "nothing"
    if found.roots == 1:
        return f"The program restores by the tf.train.Checkpoint of {children}."
    return f"Of {found.roots:,} tf.train.Checkpoint objects that of {children} is taken: none would fill more."


def _misfits(found: Filling, saved: Sequence[Variable]) -> Table:
    def row(i: int) -> Row:
        mine, other = (found.rows[found.misfits[i][0]], saved[found.misfits[i][1]])
        return (
            Span(_kind(other), Style.NUMBER),
            Span(_kind(mine), Style.NUMBER),
            Span(mine.name, Style.NAME),
        )

    columns = (
        Column("Saved", least=8),
        Column("Program", least=8),
        Column("Variable", keep_end=True, subject=True),
    )
    return Table(columns, len(found.misfits), row)


def _kind(one: Variable) -> str:
    return f"{one.dtype or '?'} {partial_shape_text(one.shape)}"


def _data(side: VariableSide, program: str, moment: str, found: Filling) -> dict[str, Any]:
    saved = side.variables.rows
    taken, misfits = dict(found.pairs), dict(found.misfits)
    back = turned(found.suggested)

    def variable(at: int) -> dict[str, Any]:
        one, other = found.rows[at], saved[taken[at]] if at in taken else None
        return {
            **unpaired_data(one, saved, found.suggested.get(at)),
            "filled": other is not None and at not in misfits,
            "saved": None if other is None else other.name,
            "saved_dtype": None if other is None else other.dtype,
            "saved_shape": None if other is None or other.shape is None else list(other.shape),
        }

    return {
        "path": side.name,
        "against": program,
        "moment": moment,
        "paired_by": "objects" if found.by_objects else "names",
        "same": found.whole,
        "variables": [variable(at) for at in range(len(found.rows))],
        "not_filled": [found.rows[at].name for at in found.not_filled],
        "misfits": [found.rows[at].name for at in misfits],
        "root": list(found.root) if found.by_objects else None,
        "elsewhere": [found.rows[at].name for at in found.elsewhere],
        "outside": [found.rows[at].name for at in found.outside],
        "not_taken": [unpaired_data(saved[at], found.rows, back.get(at)) for at in found.not_taken],
        "notes": list(side.notes),
    }
