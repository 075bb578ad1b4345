"""The executions of one tensor in a loop: listed, as a curve of scalars, or printed one below another."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdbg_cli.commands.asked.tensor_choice import Choice, part_shown
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.views.lists.tensor_columns import tensor_data
from tfdbg_cli.commands.views.values.value_view import saved, view
from tfdbg_cli.document.array import ArrayStyle, nested
from tfdbg_cli.document.array_words import scalar_text
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.sparkline import Sparkline
from tfdbg_cli.document.summary import chip, summary_data
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.statistics import has_numbers, summarize
from tfdbg_cli.model.units import ms_text
from tfdbg_cli.model.values import Array, NoValue, Value

_RANGE = re.compile(r"\[?\s*(-?\d+)?\s*:\s*(-?\d+)?\s*(?::\s*(-?\d+)?\s*)?\]?")
_AT_ONCE = 100  # arrays printed one below another; more are a link away
_ALL = "all"
Places = Sequence[int]  # which executions, counted from 0


def which(choice: Choice, text: str | None) -> int | Places | None:
    """What -n asks for: one execution, several in order, or None without it.

    Raises:
        TfdbgError: `text` is neither a number, nor a slice such as 2:5, nor `all`; or there is no such execution.

    """
    count = len(choice.indices)
    if text is None:
        return None
    if text == _ALL:
        return range(count)
    match = _RANGE.fullmatch(text)
    if match is not None:
        start, stop, step = (int(bound) if bound else None for bound in match.groups())
        if step == 0:
            raise TfdbgError(f"-n {text} makes no steps.", hint="Write START:STOP:STEP with a step that is not 0.")
        found = range(count)[slice(start, stop, step)]
        if not found:
            raise TfdbgError(f"-n {text} takes none of the {count} executions of {choice.name}.")
        return found
    try:
        number = int(text)
    except ValueError:
        hint = "Write a number from 0, -1 for the last, a slice such as 2:5, or `all`."
        raise TfdbgError(f"-n {text!r} names no execution.", hint=hint) from None
    choice.execution(number)
    return number


class ShownExecutions:
    """Several executions of one tensor, each value read once.

    `spell` gives the command that shows other executions with the same flags, as -n would write them.
    """

    def __init__(
        self,
        context: Context,
        options: argparse.Namespace,
        choice: Choice,
        places: Places,
        spell: Callable[[str], str],
    ) -> None:
        self._context = context
        self._spell = spell
        self._options = options
        self._choice = choice
        self._places = places
        self._values: dict[int, Value] = {}

    def listing(self) -> Document:
        """A table of one line each, under a curve where they are single numbers."""
        scalars = self._scalars()
        columns, row = self._columns(scalars)
        head: list[Block] = [Text((self._head(), EMPTY_LINE))]
        if scalars is not None and has_numbers(scalars) and scalars.dtype.kind != "c" and scalars.size > 1:
            head = [Text((self._head(),)), Sparkline(scalars), Text((EMPTY_LINE,))]
        table = Table(columns, len(self._places), row)
        foot = self._offer_values(scalars)
        blocks = (*head, table, *([Text((EMPTY_LINE, *foot))] if foot else []))
        return Document("tensors", blocks, lambda: self._data(values=scalars is not None), f"pt {self._choice.name}")

    def stacked(self) -> Document:
        """The values one below another, a ruler with the number above each; single numbers as a listing."""
        written = self._saved()
        if self._scalars() is not None:
            listing = self.listing()
            return Document("tensors", (*written, *listing.blocks), listing.data, self._title)
        blocks: list[Block] = [Text((self._head(),)), *written]
        for place in self._places[:_AT_ONCE]:
            blocks += self._one(place)
        left = self._places[_AT_ONCE:]
        if left:
            step = left[1] - left[0] if len(left) > 1 else 1
            stop = left[-1] + (1 if step > 0 else -1)
            link = self._spell(f"{left[0]}:{stop if stop >= 0 else ''}:{step}".removesuffix(":1"))
            blocks.append(Text((EMPTY_LINE, line(f"{len(left):,} more: ", Span(link, Style.KEY, link)))))
        return Document("tensors", tuple(blocks), lambda: self._data(values=True), self._title)

    @property
    def _title(self) -> str:
        return f"pt {self._choice.name}{self._choice.slicing} -n {self._options.number or _ALL}"

    def _value(self, place: int) -> Value:
        if place not in self._values:
            store, index = self._context.run.tensors, self._choice.indices[place]
            self._values[place] = part_shown(store, index, self._choice.slicing)
        return self._values[place]

    def _scalars(self) -> Array | None:
        """The values in a row when each is a single element; None otherwise."""
        store, choice = self._context.run.tensors, self._choice
        if not choice.slicing and any(store[choice.indices[place]].shape != () for place in self._places):
            return None
        values = [self._value(place) for place in self._places]
        arrays = [value for value in values if not isinstance(value, NoValue) and value.ndim == 0]
        if len(arrays) < len(values) or len({array.dtype for array in arrays}) > 1:
            return None
        return np.stack(arrays)

    def _columns(self, scalars: Array | None) -> tuple[tuple[Column, ...], Any]:
        store = self._context.run.tensors
        start = store[0].time_us

        def row(i: int) -> Row:
            place = self._places[i]
            index = self._choice.indices[place]
            tensor = store[index]
            elapsed = None if tensor.time_us is None or start is None else tensor.time_us - start
            link = self._spell(str(place))
            if scalars is None:
                shown = Span(chip(self._value(place), tensor.dtype, self._summary(place)).text, Style.PLAIN, link)
            else:
                shown = _scalar_span(scalars[i, ...], link)
            cells = (Span(str(place), Style.NUMBER, link), Span(ms_text(elapsed), Style.NUMBER), shown)
            return cells if start is not None else (cells[0], cells[2])

        number, value = Column("Exec", right=True, width=6), Column("Value")
        timed = (number, Column("t (ms)", right=True, width=10), value)
        return (timed if start is not None else (number, value)), row

    def _summary(self, place: int) -> Any:
        value = self._value(place)
        if not self._choice.slicing:
            return self._context.summary(self._choice.indices[place])
        return None if isinstance(value, NoValue) else summarize(value)

    def _head(self) -> Line:
        count = len(self._choice.indices)
        dtype = self._context.run.tensors[self._choice.indices[0]].dtype
        shown = "" if len(self._places) == count else f", {len(self._places):,} of them shown"
        return line(
            Span("Tensor ", Style.LABEL),
            Span(f"{self._choice.name}{self._choice.slicing}", Style.TITLE),
            f" {dtype} was produced {'once' if count == 1 else f'{count:,} times'}{shown}:",
        )

    def _offer_values(self, scalars: Array | None) -> list[Line]:
        if scalars is not None:
            return []
        link = self._spell(_ALL)
        return [line(Span("One below another: ", Style.LABEL), Span(link, Style.KEY, link))]

    def _one(self, place: int) -> list[Block]:
        """A ruler, what the value comes to, and the value."""
        tensor = self._context.run.tensors[self._choice.indices[place]]
        value = self._value(place)
        number = Span(f"execution {place}", Style.HEADING, self._spell(str(place)))
        ruler = line(Span("── ", Style.DIM), number, Span(" " + "─" * 40, Style.DIM))
        if isinstance(value, NoValue):
            return [Text((EMPTY_LINE, ruler, line(Span(value.text, Style.WARNING))))]
        shown = view(self._context, self._options, value, tensor.dtype, self._summary(place))
        return [Text((EMPTY_LINE, ruler)), *shown.blocks()]

    def _saved(self) -> list[Block]:
        """The values written into one array with the executions as first axis, if -w asks for it."""
        if not self._options.write_path:
            return []
        values = [self._value(place) for place in self._places]
        arrays = [value for value in values if not isinstance(value, NoValue)]
        if len(arrays) < len(values) or len({(array.shape, array.dtype) for array in arrays}) > 1:
            hint = "Their shapes differ or a value is missing; write them one by one with -n K."
            raise TfdbgError("These executions do not fit into one array.", hint=hint)
        return [Text(tuple(saved(self._options, np.stack(arrays))))]

    def _data(self, *, values: bool) -> dict[str, Any]:
        rows = []
        for place in self._places:
            row = tensor_data(self._context, self._choice.indices[place])
            row["summary"] = summary_data(self._summary(place))
            value = self._value(place)
            if isinstance(value, NoValue):
                row |= {"value": None, "elided": False, "lack": str(value.lack)} if values else {}
            elif values:
                row["value"], row["elided"] = nested(value, self._style)
            rows.append(row)
        return {"tensors": rows, "total": len(self._context.run.tensors), "filter": None}

    @property
    def _style(self) -> ArrayStyle:
        threshold = self._options.threshold
        limit = self._context.settings.array_threshold if threshold is None else threshold
        settings, edgeitems = self._context.settings, self._options.edgeitems
        return ArrayStyle(
            None if self._options.all else limit,
            settings.edgeitems if edgeitems is None else edgeitems,
            precision=settings.precision,
            suppress=settings.suppress,
        )


def _scalar_span(scalar: Array, link: str) -> Span:
    text = scalar_text(scalar, {})
    bad = has_numbers(scalar) and summarize(scalar).nonfinite
    return Span(text, Style.NAN if bad and "nan" in text else Style.INF if bad else Style.NUMBER, link)
