"""The line of a row of the batch that tells which sample of the data it is."""

from __future__ import annotations

from typing import Any

from tfdbg_cli.analysis.batch.sample import Sample
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.batch_place import VALIDATION, Order
from tfdbg_cli.model.records import Record
from tfdbg_cli.model.units import count_text

_ARRAYS = {False: "arrays", True: "validation arrays"}


def sample_line(sample: Sample, size: int, record: Record | None = None) -> Line:
    """Which sample a row of a batch of `size` is; samples count from 0 as rows do, steps as Keras tells them.

    `record` is the one that was found in data of which the order is not known.
    """
    place = sample.place
    step = f"step {place.step + 1:,}"
    if place.epoch is not None:
        step += f" of epoch {place.epoch + 1:,}"
    where, validates = f"{step} of {place.loop}", place.loop == VALIDATION
    label = Span("Sample    ", Style.LABEL)
    if sample.number is None and record is not None and record.record is not None:
        found = Span(f"{record.record:,}", Style.NUMBER, "input")
        alike = "" if record.alike == 1 else f", the first of {record.alike:,} alike"
        return line(label, found, f" of {record.key}{alike}, by what it holds, from 0: {where}")
    if sample.number is None:
        hidden = f"unknown, {where}: shuffle=True hides which one of the {_ARRAYS[validates]} it is"
        return line(label, hidden)
    number = Span(f"{sample.number:,}", Style.NUMBER)
    if place.single:
        return line(
            label, number, " of what the iterator gave, from 0, each counted as one: no data set makes batches there"
        )
    if place.order is Order.ARRAYS:
        return line(label, number, f" of the {_ARRAYS[validates]}, from 0: {where}")
    if not place.loop:
        where = f"batch {place.step:,}"
    of_all = "what the iterator gave" if not place.loop else "the data" if place.epoch is None else "the epoch"
    if validates:
        of_all = "the validation data"
    condition = "" if sample.certain else f", if {_before(place.step)} had {count_text(size, 'row')}, too"
    if record is not None and record.record is not None:
        told = Span(f"{record.record:,}", Style.NUMBER, "input")
        of = f" of {record.file}" if record.file else f" of {record.key}" if record.key else " of the data"
        return line(label, number, f" of {of_all}, from 0{condition}: {where}; it is record ", told, of)
    if place.by_python:
        return line(label, number, f" of {of_all}, from 0{condition}: {where}, in the order that Python gave them in")
    order = "in the order of the pipeline; where that shuffles, "
    search = Span("input", Style.KEY, "input")
    return line(label, number, f" of {of_all}, from 0{condition}: {where}, {order}", search, " looks for the record")


def _before(step: int) -> str:
    return "the batch before it" if step == 1 else f"each of the {step:,} batches before it"


def sample_data(sample: Sample | None) -> dict[str, Any] | None:
    """The same for scripts: all numbers from 0."""
    if sample is None:
        return None
    place = sample.place
    return {
        "number": sample.number,
        "certain": sample.certain,
        "order": str(place.order),
        "step": place.step,
        "epoch": place.epoch,
        "loop": place.loop or None,
        **({"single": True} if place.single else {}),
    }
