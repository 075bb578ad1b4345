"""How `pt`, `pf` and `eval` show a value, and the flags they share."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdbg_cli.commands.asked.ranges import Ranges, parse_ranges
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Argument, ArgumentKind
from tfdbg_cli.commands.views.values.array_file import save_array
from tfdbg_cli.document.array import ArrayBlock, ArrayStyle, nested
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.summary import facts_line, summary_data, summary_lines
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.statistics import Summary, has_numbers, summarize
from tfdbg_cli.model.values import Array

QUICK = 1 << 24  # elements that are summarized unasked
_FIRST_MARKED = 5

RANGES = Argument(
    ("-r", "--ranges"), "highlight elements in [a,b] or [[a,b],[c,d]]; inf is allowed", metavar="RANGES"
)
ALL = Argument(("-a", "--all"), "print every element", switch=True)
SUMMARY = Argument(("-s", "--numeric_summary"), "counts by sign, least, greatest, mean, deviation", switch=True)
WRITE = (
    Argument(("-w", "--write_path"), "save the value as a .npy file", ArgumentKind.PATH, metavar="FILE", default=""),
    Argument(("--force",), "replace the file if it exists", switch=True),
)
PRINTING = (
    Argument(("--precision",), "digits after the point", metavar="N", type=int),
    Argument(("--suppress",), "no exponents for small numbers", switch=True),
    Argument(("--edgeitems",), "elements kept at each end of a shortened axis", metavar="N", type=int),
    Argument(("--linewidth",), "characters a line", metavar="N", type=int),
    Argument(("--threshold",), "elements above which the array is shortened", metavar="N", type=int),
)
_LARGEST = 2**31 - 1  # NumPy takes no larger precision
VALUE_ARGUMENTS = (RANGES, ALL, SUMMARY, *WRITE, *PRINTING)


def array_style(context: Context, options: argparse.Namespace) -> ArrayStyle:
    """How to print, from flags, settings and the program's own print options.

    Raises:
        TfdbgError: a number that makes no sense.

    """
    for name in ("precision", "edgeitems", "linewidth", "threshold"):
        number = getattr(options, name)
        least = 0 if name in {"precision", "threshold"} else 1
        if number is not None and not least <= number <= _LARGEST:
            raise TfdbgError(f"--{name} {number} makes no sense.", hint=f"Give a number from {least} to {_LARGEST}.")
    settings = context.settings

    def chosen(name: str, kept: int | None) -> int | None:
        flag: int | None = getattr(options, name)
        return kept if flag is None else flag

    return ArrayStyle(
        None if options.all else chosen("threshold", settings.array_threshold),
        chosen("edgeitems", settings.edgeitems),
        chosen("linewidth", settings.linewidth),
        chosen("precision", settings.precision),
        True if options.suppress else settings.suppress,
    )


@dataclass(frozen=True)
class ValueView:
    """An array with the flags under which it is shown. `known` is its summary if that was computed before.

    `as_text` and `begin` as in ArrayBlock. Of a part that was `cut` out of a value places count within the part.
    """

    array: Array
    dtype: str
    style: ArrayStyle
    ranges: Ranges | None = None
    whole_summary: bool = False
    known: Summary | None = None
    as_text: bool = False
    begin: tuple[int, ...] | None = None
    cut: bool = False

    @property
    def summary(self) -> Summary:
        """The summary of the array as shown."""
        return self.known or summarize(self.array)

    def blocks(self) -> list[Block]:
        """Summary, highlights and elements."""
        lines = self._summary()
        if self.ranges is not None:
            lines += self._marked(self.ranges)
        if self.array.size == 0:
            lines.append(line(Span("There are no elements.", Style.DIM)))
        mark = self.ranges.mask if self.ranges else None
        return [Text((*lines, EMPTY_LINE)), ArrayBlock(self.array, self.style, mark, self.as_text, begin=self.begin)]

    def _summary(self) -> list[Line]:
        if self.whole_summary:
            boolean = self.array.dtype.kind == "b"
            return [line(Span("Numeric summary:", Style.HEADING)), *summary_lines(self.summary, boolean=boolean)]
        if not has_numbers(self.array) or self.array.ndim == 0:
            return []
        if self.known is None and self.array.size > QUICK:
            return [line(Span(f"{self.array.size:,} elements; -s summarizes them.", Style.HINT))]
        return [facts_line(self.summary)]

    def _marked(self, ranges: Ranges) -> list[Line]:
        count, first = self._count_marked(ranges)
        percent = 100 * count / self.array.size if self.array.size else 0.0
        lines = [line(f"Highlighted: {count:,} of {self.array.size:,} ({percent:.2f}%)")]
        if count:
            places = ", ".join(str(list(place)) for place in first)
            more, of_what = ", …" if count > len(first) else "", " of the slice" if self.cut else ""
            lines.append(line(Span(f"first at {places}{more}{of_what}", Style.DIM)))
        return lines

    def _count_marked(self, ranges: Ranges) -> tuple[int, list[tuple[int, ...]]]:
        flat = np.flatnonzero(ranges.mask(self.array))
        first = [tuple(int(i) for i in np.unravel_index(k, self.array.shape)) for k in flat[:_FIRST_MARKED]]
        return len(flat), first

    def data(self) -> dict[str, Any]:
        """The JSON form: summary, value, elided, and highlighted with ranges."""
        value, elided = nested(self.array, self.style)
        found: dict[str, Any] = {"summary": summary_data(self.summary), "value": value, "elided": elided}
        if self.ranges is not None:
            found["highlighted"] = {"count": self._count_marked(self.ranges)[0], "size": self.array.size}
        return found


def view(
    context: Context, options: argparse.Namespace, array: Array, dtype: str, known: Summary | None = None
) -> ValueView:
    """`array` under the flags in `options`.

    Raises:
        TfdbgError: the ranges cannot be read, or `array` has no order.

    """
    ranges = parse_ranges(options.ranges) if options.ranges else None
    if ranges is not None and array.dtype.kind in "OSUc":
        raise TfdbgError(f"-r needs real numbers; these are {dtype}.")
    flags = (getattr(options, argument.dest, None) for argument in VALUE_ARGUMENTS)
    as_text = any(flag is not None and flag is not False and flag != "" for flag in flags)
    whole = getattr(options, "numeric_summary", True)
    return ValueView(array, dtype, array_style(context, options), ranges, whole, known, as_text)


def saved(options: argparse.Namespace, array: Array, dtype: str = "") -> list[Line]:
    """The value written, if -w asks for it, and a line that says so; `dtype` is TensorFlow's name of its type.

    Raises:
        TfdbgError: it cannot be written.

    """
    return [save_array(array, options.write_path, force=options.force, dtype=dtype)] if options.write_path else []


def written_data(options: argparse.Namespace) -> dict[str, str]:
    """The JSON form of what `saved` has done."""
    return {"written": options.write_path} if options.write_path else {}
