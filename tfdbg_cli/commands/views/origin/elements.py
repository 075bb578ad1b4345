"""The offending elements of an origin beside the input elements that made them, on the screen and as JSON."""

from __future__ import annotations

from typing import Any

from tfdbg_cli.analysis.graph.making.parts import Part
from tfdbg_cli.analysis.origin.finding import Finding
from tfdbg_cli.analysis.origin.offending import MOST_ELEMENTS, Element, offending_elements
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.commands.views.origin.batch import batch_lines
from tfdbg_cli.commands.views.short_names import shortest_ends
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.labels import LABEL_WIDTH, NO_LABEL
from tfdbg_cli.document.summary import chip, number_text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import Span, Style, line
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import summarize
from tfdbg_cli.model.units import shape_text
from tfdbg_cli.model.values import Array
from tfdbg_cli.plain_text import printable

MOST_LISTED = 10_000
_MORE = 10  # times as many elements as before, where more are asked for
_MOST_WHOLE = 1_000  # what is larger is told to four digits, whole or not
_MOST_PART_VALUES = 32  # a longer slice of an input goes into JSON as its size and extremes


def element_blocks(run: Run, found: Finding, most: int) -> list[Block]:
    """The first offending elements beside the input elements that made them, and the rows of the batch behind."""
    rows = batch_lines(run, found.in_batch.batch)
    return [*_elements(found.origin, most), *([Text(tuple(rows))] if rows else [])]


def _elements(origin: Origin, most: int) -> list[Block]:
    if not origin.value.ndim and not any(part is not None for part in origin.elements[0].parts):
        return []
    shown = first_elements(origin, most)
    known = [i for i in range(len(origin.inputs)) if any(e.parts[i] is not None for e in shown)]
    # Short heads, so that the values stand side by side on a narrow screen; the full names are those of the inputs.
    titles = shortest_ends([str(origin.name), *(str(origin.inputs[i].name) for i in known)])
    columns = (
        Column("Elements", width=LABEL_WIDTH - 2),
        Column(""),
        *(Column(title) for title in titles),
    )

    def row(i: int) -> Row:
        element = shown[i]
        return (
            Span(""),
            Span(shape_text(element.index)),
            _value(element.value),
            *(_part(element.parts[j]) for j in known),
        )

    blocks: list[Block] = [Table(columns, len(shown), row)]
    total = int(origin.bad.sum())
    if total > len(shown):
        more = MOST_ELEMENTS if len(shown) < MOST_ELEMENTS else min(_MORE * len(shown), MOST_LISTED)
        link = f"origin -m {more}" if more > len(shown) else ""
        blocks.append(Text((line(NO_LABEL, Span(f"… {total - len(shown):,} more", Style.DIM, link)),)))
    if origin.left_out:
        verb, them = ("is", "it") if origin.left_out == 1 else ("are", "them")
        said = f"{origin.left_out:,} more {verb} bad, but no tf.where chooses {them}"
        blocks.append(Text((line(NO_LABEL, Span(said, Style.DIM)),)))
    return blocks


def first_elements(origin: Origin, most: int) -> tuple[Element, ...]:
    """The first `most` offending elements of `origin`."""
    if most <= len(origin.elements) or len(origin.elements) == int(origin.bad.sum()):
        return origin.elements[:most]
    return offending_elements(origin.node if origin.inputs else None, origin.value, origin.bad, origin.inputs, most)


def _value(element: Any) -> Span:
    """An element, to four digits; to all where these are a small whole number and it is none: 1.0000001 is not 1."""
    value = _python(element)
    text = number_text(value) if isinstance(value, float) else str(value)
    if isinstance(value, float) and abs(value) < _MOST_WHOLE and text.lstrip("-").isdigit() and float(text) != value:
        text = str(element)
    style = Style.NAN if "nan" in text else Style.INF if "inf" in text else Style.NUMBER
    return Span(text, style)


def _part(part: Part | None) -> Span:
    if part is None:
        return Span("–", Style.DIM)
    if part.value.size == 1:
        return _value(part.value.reshape(-1)[0])
    where = f"[{','.join(':' if i is None else str(i) for i in part.index)}]"
    body = chip(part.value, "").text.strip()
    return Span(f"{where} {body.split(' ', 1)[-1]}", Style.NUMBER)


def _python(value: Any) -> object:
    """A NumPy scalar as Python's own number; bfloat16 and float8 as float, a text as a text for the screen."""
    found = value.item() if hasattr(value, "item") else value
    if isinstance(found, bytes | str):
        return printable(found if isinstance(found, str) else found.decode("utf-8", "backslashreplace"))
    return found if isinstance(found, int | float | complex | bool) else float(found)


def element_data(element: Element) -> dict[str, Any]:
    """The JSON form: {index, value, inputs}."""
    return {
        "index": list(element.index),
        "value": _python(element.value),
        "inputs": [None if part is None else _part_data(part.value) for part in element.parts],
    }


def _part_data(values: Array) -> Any:
    if values.size <= _MOST_PART_VALUES:
        return _python(values[()]) if not values.ndim else [_python(value) for value in values.reshape(-1)]
    facts = summarize(values)
    return {"size": facts.size, "min": facts.min, "max": facts.max, "nonfinite": facts.nonfinite}
