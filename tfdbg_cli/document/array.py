"""Arrays as lines: NumPy's layout, each line made when it is looked at and knowing its first element."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfdbg_cli.document.array_words import ArrayWords, decoded, is_text, native, scalar_text
from tfdbg_cli.document.lazy_lines import LazyLines
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style
from tfdbg_cli.model.values import Array

_NUMPY_LINEWIDTH = 75  # NumPy's default: a program that left it alone gets the width of the screen
_MORE = "..."


@dataclass(frozen=True)
class ArrayStyle:
    """How to print an array. None follows the program's own np.get_printoptions(), at the time of printing.

    `threshold` is the number of elements above which axes are shortened to their edges; None prints all.
    """

    threshold: int | None = 2000
    edgeitems: int | None = None
    linewidth: int | None = None
    precision: int | None = None
    suppress: bool | None = None

    def options(self) -> dict[str, Any]:
        """What to tell np.array2string."""
        found: dict[str, Any] = {}
        if self.precision is not None:
            found["precision"] = self.precision
        if self.suppress is not None:
            found["suppress_small"] = self.suppress
        return found

    def edges(self, shape: tuple[int, ...]) -> int | None:
        """How many elements to keep at each end of an axis, or None where `shape` is printed in full.

        With many axes fewer are kept, so that about `threshold` elements remain.
        """
        if self.threshold is None or math.prod(shape) <= self.threshold:
            return None
        edge = self.edgeitems if self.edgeitems is not None else int(np.get_printoptions()["edgeitems"])
        edge = max(1, edge)
        while edge > 1 and math.prod(min(n, 2 * edge) for n in shape) > max(self.threshold, 1000):
            edge -= 1
        return edge

    def width(self, screen: int | None) -> int:
        """Columns to lay out for: as told, else as the program set, else the screen's."""
        if self.linewidth is not None:
            return max(1, self.linewidth)
        own = int(np.get_printoptions()["linewidth"])
        return screen if screen is not None and own == _NUMPY_LINEWIDTH else own


@dataclass(frozen=True)
class ArrayBlock:
    """The elements of `array` as a block of a document. `mark` says which elements of a chunk to highlight.

    `as_text` is set where somebody asked how to print it: a front end that draws arrays otherwise shows the text.
    `name` says which array it is on a page that shows several. `begin` is the index of the element to look at first,
    where one is of interest.
    """

    array: Array
    style: ArrayStyle = ArrayStyle()
    mark: Callable[[Array], Array] | None = None
    as_text: bool = False
    name: str = ""
    begin: tuple[int, ...] | None = None

    @property
    def elided(self) -> bool:
        """Whether some elements are left out."""
        edge = self.style.edges(self.array.shape)
        return edge is not None and any(length > 2 * edge for length in self.array.shape)

    def shows(self, index: tuple[int, ...]) -> bool:
        """Whether the element at `index`, one of this array, is not left out."""
        edge = self.style.edges(self.array.shape)
        lengths = zip(index, self.array.shape, strict=True)
        return edge is None or not any(length > 2 * edge and edge <= i < length - edge for i, length in lengths)

    def whole(self) -> ArrayBlock:
        """The same with every element."""
        return replace(self, style=replace(self.style, threshold=None))

    def lines(self, width: int | None) -> Sequence[Line]:
        if self.array.size == 0:
            return (Line((Span("[]"),)),)
        if self.array.ndim == 0:
            return (self._scalar(),)
        return ArrayLines(self.array, self.style, self.style.width(width), self.mark)

    def _scalar(self) -> Line:
        words = ArrayWords(self.array.reshape(1), self.style.options(), self.mark)
        return Line((Span(scalar_text(self.array, self.style.options()), words.run(0, 1)[1][0]),), element=())


class _Axis:
    """One axis as it is shown: `shown` of `length` elements, a gap behind the first `cut` (None: no gap)."""

    def __init__(self, length: int, edge: int | None) -> None:
        self.length = length
        self.cut = edge if edge is not None and length > 2 * edge else None
        self.shown = length if self.cut is None else 2 * self.cut

    def index(self, place: int) -> int:
        """Where the element shown at `place` stands in the array."""
        return place if self.cut is None or place < self.cut else self.length - (self.shown - place)

    def indices(self) -> list[int]:
        return [self.index(place) for place in range(self.shown)]


class ArrayLines(LazyLines):
    """The lines of an array with at least one axis and one element.

    Same text as np.array2string (for up to four axes, where NumPy shortens as we do). Finding a line is arithmetic
    on the heights of the sub-arrays, so that an array of any size opens at once.
    """

    def __init__(
        self, array: Array, style: ArrayStyle, width: int, mark: Callable[[Array], Array] | None = None
    ) -> None:
        edge = style.edges(array.shape)
        self._axes = [_Axis(length, edge) for length in array.shape]
        if any(axis.cut is not None for axis in self._axes):
            array = array[np.ix_(*(axis.indices() for axis in self._axes))]
        self._words = ArrayWords(array, style.options(), mark, shorten=style.threshold is not None)
        self._ndim = array.ndim
        self._breaks = self._row_breaks(width - self._ndim)
        per_line = self._per_line(width - self._ndim)
        last = self._axes[-1]
        rows = len(self._breaks) if last.cut is not None else -(-last.shown // per_line)
        self._per_row = per_line
        self._heights = [rows]  # of the sub-arrays below axis d, innermost first until reversed
        for d in range(self._ndim - 2, -1, -1):
            axis, blank = self._axes[d], self._ndim - 2 - d
            items = axis.shown + (axis.cut is not None)
            gap_height = 1 if axis.cut is not None else 0
            self._heights.append(axis.shown * self._heights[-1] + gap_height + (items - 1) * blank)
        self._heights.reverse()

    def __len__(self) -> int:
        return self._heights[0]

    def line_at(self, index: int) -> Line:
        """The line at `index`; see LazyLines."""
        places: list[int] = []
        for d in range(self._ndim - 1):
            found = self._descend(d, index)
            if found is None:
                return EMPTY_LINE
            place, index = found
            if place < 0:
                return Line((Span(" " * (d + 1) + _MORE, Style.DIM),))
            places.append(place)
        return self._row(places, index)

    @property
    def shows_all(self) -> bool:
        """Whether every element has its place on some line."""
        return all(axis.cut is None for axis in self._axes)

    def lines_of(self, places: Array) -> Array:
        """The lines on which the elements at `places` stand, each counted in C order; only if it `shows_all`."""
        index = np.unravel_index(places, [axis.length for axis in self._axes])
        lines: Array = index[-1] // self._per_row
        for d in range(self._ndim - 1):
            lines = lines + index[d] * (self._heights[d + 1] + self._ndim - 2 - d)
        return lines

    def first_element(self, index: int) -> int:
        """The place in C order of the first element on the line at `index` or below it; only if it `shows_all`.

        Where there is none it is the number of all elements.
        """
        place, size = 0, 1
        for axis in self._axes:
            size *= axis.length
        if index >= len(self):
            return size
        for d in range(self._ndim - 1):
            axis = self._axes[d]
            size //= axis.length
            at, index = divmod(index, self._heights[d + 1] + self._ndim - 2 - d)
            place += at * size
            if index >= self._heights[d + 1]:
                return place + size
        return place + min(index * self._per_row, size)

    def _descend(self, d: int, offset: int) -> tuple[int, int] | None:
        """At axis `d`: which sub-array line `offset` is in, and its line there; -1 for `...`, None for a blank."""
        axis, height, blank = self._axes[d], self._heights[d + 1], self._ndim - 2 - d
        block = height + blank
        skipped = 0
        if axis.cut is not None and offset >= axis.cut * block:
            offset -= axis.cut * block
            if offset == 0:
                return -1, 0
            if offset <= blank:
                return None
            offset -= 1 + blank
            skipped = axis.cut
        place, within = divmod(offset, block)
        return (place + skipped, within) if within < height else None

    def _row(self, places: list[int], segment: int) -> Line:
        """Line `segment` of the innermost row at `places` of the outer axes."""
        last = self._axes[-1]
        if last.cut is None:
            start = segment * self._per_row
            tokens: list[int | None] = list(range(start, min(start + self._per_row, last.shown)))
            final = start + self._per_row >= last.shown
        else:
            tokens = self._breaks[segment]
            final = segment == len(self._breaks) - 1
        base = 0
        for axis, place in zip(self._axes, places, strict=False):
            base = base * axis.shown + place
        base *= last.shown
        spans = self._tokens(tokens, base)
        opened = 1 + self._edge_run(places, first=True) if segment == 0 else 0
        closed = 1 + self._edge_run(places, first=False) if final else 0
        head = " " * (self._ndim - opened) + "[" * opened
        first = next((token for token in tokens if token is not None), None)
        element = None
        if first is not None:
            outer = (axis.index(place) for axis, place in zip(self._axes, places, strict=False))
            element = (*outer, last.index(first))
        return Line(_merged([Span(head), *spans, Span("]" * closed)]), element)

    def _edge_run(self, places: list[int], *, first: bool) -> int:
        """How many axes outside the row begin (or end) with it."""
        count = 0
        for axis, place in zip(reversed(self._axes[:-1]), reversed(places), strict=True):
            if place != (0 if first else axis.shown - 1):
                break
            count += 1
        return count

    def _tokens(self, tokens: list[int | None], base: int) -> list[Span]:
        numbers = [token for token in tokens if token is not None]
        words: dict[int, tuple[str, Style]] = {}
        if numbers:
            found, styles = self._words.run(base + numbers[0], base + numbers[-1] + 1)
            if len(found) == len(tokens) and not any(styles):  # nearly all lines of a large array, in one piece
                return [Span(" ".join(found))]
            words = {numbers[0] + i: pair for i, pair in enumerate(zip(found, styles, strict=True))}
        spans: list[Span] = []
        for token in tokens:
            if spans:
                spans.append(Span(" "))
            if token is None:
                spans.append(Span(_MORE, Style.DIM))
                continue
            word, style = words[token]
            bare = word.strip() if style else word
            at = word.index(bare) if bare else 0
            spans += [Span(word[:at]), Span(bare, style), Span(word[at + len(bare) :])]
        return spans

    def _per_line(self, room: int) -> int:
        """Words on a line: NumPy indents by the number of axes and keeps room for one bracket."""
        return max(1, (room - self._ndim + 1) // (self._words.width + 1))

    def _row_breaks(self, room: int) -> list[list[int | None]]:
        """Which words stand on which line of a shortened row, the gap among them as None."""
        last = self._axes[-1]
        if last.cut is None:
            return []
        order: list[int | None] = [*range(last.cut), None, *range(last.cut, last.shown)]
        lines: list[list[int | None]] = [[]]
        taken = self._ndim
        for token in order:
            length = len(_MORE) if token is None else self._words.width
            if taken + length > room and lines[-1]:
                lines.append([])
                taken = self._ndim
            lines[-1].append(token)
            taken += length + 1
        return lines


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    """`spans` with neighbours of one style joined and empty ones dropped."""
    found: list[Span] = []
    for span in spans:
        if not span.text:
            continue
        if found and found[-1].style == span.style:
            found[-1] = Span(found[-1].text + span.text, span.style)
        else:
            found.append(span)
    return tuple(found)


def nested(array: Array, style: ArrayStyle) -> tuple[Any, bool]:
    """The elements as nested lists for JSON, and whether some are left out.

    Above the threshold each long axis keeps its edges, with the text "..." between them. Strings are decoded.
    """
    edge = style.edges(array.shape)
    return _nested(array, edge), edge is not None and any(n > 2 * edge for n in array.shape)


def _nested(array: Array, edge: int | None) -> Any:
    if array.ndim == 0:
        return decoded(native(array).item())
    length = len(array)
    if edge is None or length <= 2 * edge:
        return (
            [_nested(array[i, ...], edge) for i in range(length)]
            if edge is not None or is_text(array)
            else _all(array)
        )
    head = [_nested(array[i, ...], edge) for i in range(edge)]
    return [*head, _MORE, *(_nested(array[i, ...], edge) for i in range(length - edge, length))]


def _all(array: Array) -> Any:
    return native(array).tolist()
