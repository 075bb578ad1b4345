"""The page about the variables of one checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tfdbg_cli.analysis.known_variables import KnownVariables
from tfdbg_cli.commands.views.variables.saved import VariableSide
from tfdbg_cli.commands.views.variables.table import totals_data, variable_data, variable_head, variable_table
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.model.tensors import release
from tfdbg_cli.model.units import count_text, names_text
from tfdbg_cli.model.values import LOST, NoValue

_REASONS_SHOWN = 5
_STEPS = 32  # of counting a large value, after which the memory of what was read is given back


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong with the variables of a checkpoint, or looks so, by their places.

    `lost` has of each that nobody can read why, `notes` are those that tell of damage to the index.
    """

    nonfinite: Sequence[int]
    zero: Sequence[int]
    lost: Sequence[tuple[int, str]]
    notes: Sequence[str]

    @property
    def bad(self) -> bool:
        """Whether something holds NaN or infinities, or cannot be read."""
        return bool(self.nonfinite or self.lost or self.notes)


def findings(side: VariableSide) -> Findings:
    """What there is to say of the variables; every value is read, a large one a part at a time."""
    known = side.variables
    nonfinite, zero, lost = [], [], []
    for at, one in enumerate(known.rows):
        for step, _ in enumerate(known.summary_in_steps(at), 1):
            if step % _STEPS == 0:
                release(known.run.tensors)
        summary = known.summary(at)
        if summary is None:
            if known.lack(at) in LOST:
                lost.append((at, _why(known, at)))
        elif summary.any_nonfinite:
            nonfinite.append(at)
        elif summary.size and summary.zero == summary.size and not one.slot_of:
            zero.append(at)
    return Findings(nonfinite, zero, lost, side.damages)


def checkpoint_document(side: VariableSide, found: Findings) -> Document:
    """The page: what there is, what is wrong, then each variable with what it holds."""
    known = side.variables
    blocks: list[Block] = [Text((*_head(side, found), EMPTY_LINE))]
    if known.rows:
        blocks.append(variable_table(known, range(len(known.rows)), lambda key: "", stats=True))
    return Document("checkpoint", tuple(blocks), lambda: _data(side, found), "checkpoint")


def _why(known: KnownVariables, at: int) -> str:
    value = known.values.value(at)
    return value.text if isinstance(value, NoValue) else ""


def _head(side: VariableSide, found: Findings) -> Iterator[Line]:
    known = side.variables
    yield line(Span(side.name, Style.TITLE), f"  {known.run.call.title}")
    for note in side.notes:
        yield line(Span(note, Style.WARNING if note in found.notes else Style.HINT))
    yield from variable_head(known)
    for at, why in found.lost[:_REASONS_SHOWN]:
        yield line(Span(f"{known.rows[at].name} cannot be read. {why}", Style.ERROR))
    if found.lost[_REASONS_SHOWN:]:
        more = count_text(len(found.lost) - _REASONS_SHOWN, "more variable")
        yield line(Span(f"{more} cannot be read.", Style.ERROR))
    if found.nonfinite:
        yield line(Span(f"NaN or infinities: {_named(known, found.nonfinite)}.", Style.ERROR))
    if found.zero:
        yield line(Span(f"All zero: {_named(known, found.zero)}.", Style.HINT))
    if known.rows and not found.bad:
        yield line(Span("No NaN, no infinities; every value can be read.", Style.GOOD))


def _named(known: KnownVariables, places: Sequence[int]) -> str:
    names = names_text(known.rows[at].name for at in places)
    return f"{count_text(len(places), 'variable')}, {names}"


def _data(side: VariableSide, found: Findings) -> dict[str, Any]:
    known = side.variables
    lost = dict(found.lost)
    return {
        "path": side.name,
        "checkpoint": known.run.call.title,
        "variables": [
            {**variable_data(known, at, counted=True), "lost": lost.get(at)} for at in range(len(known.rows))
        ],
        **totals_data(known),
        "nonfinite": [known.rows[at].name for at in found.nonfinite],
        "all_zero": [known.rows[at].name for at in found.zero],
        "lost": [{"name": known.rows[at].name, "text": text} for at, text in found.lost],
        "damages": list(found.notes),
        "notes": list(side.notes),
    }
