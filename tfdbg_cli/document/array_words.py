"""The elements of an array as words of one width, in NumPy's own formatting."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfdbg_cli.document.text import Style
from tfdbg_cli.model.dtypes import in_double, is_inexact
from tfdbg_cli.model.repeated_element import repeated_element
from tfdbg_cli.model.values import Array
from tfdbg_cli.plain_text import printable

_NUMPY_PRECISION = 8  # NumPy's default: digits behind the point
_SEPARATOR = "\0"  # in no number, and not taken for a blank
_AT_ONCE = 10_000  # up to so many elements are formatted together, exactly as NumPy would
_BLOCK = 2048  # elements formatted at a time in larger arrays
_SAMPLE = 1000
_LONGEST_TEXT = 100  # characters of a string element that are shown in a shortened array
_KEPT_BLOCKS = 64
_CHUNK = 1 << 20  # elements searched at a time for the extremes

Words = tuple[list[str], list[Style]]


class ArrayWords:
    """Words for runs of elements of an array, in C order, and their styles; made when asked for.

    NumPy chooses one format for all elements. Up to 10,000 elements get exactly that; in a larger array each block
    is formatted with a few elements (extremes, the longest of a sample) that decide the format for all.

    `options` are overrides for np.array2string; what they leave open follows the program's own print options.
    `mark` says which elements of a chunk to highlight.
    """

    def __init__(
        self,
        array: Array,
        options: Mapping[str, Any],
        mark: Callable[[Array], Array] | None = None,
        *,
        shorten: bool = True,
    ) -> None:
        self._array = array
        self._options = dict(options)
        self._mark = mark
        self._texts = is_text(array)
        self._shorten = shorten
        self._blocks: dict[int, Words] = {}
        self._anchors = array.reshape(-1)[:0]
        self._block = max(array.size, 1) if array.size <= _AT_ONCE else _BLOCK
        if array.size > _AT_ONCE and not self._texts:
            self._anchors = self._deciding()
        sample = self._anchors if self._anchors.size else None
        words = self._format(sample) if sample is not None else self._at(0)[0]
        self.width = max(map(len, words), default=0)

    def run(self, start: int, stop: int) -> Words:
        """Words and styles of the elements `start` to `stop` in C order."""
        words: list[str] = []
        styles: list[Style] = []
        while start < stop:
            number, offset = divmod(start, self._block)
            found, looks = self._at(number)
            end = min(stop - number * self._block, len(found))
            words += found[offset:end]
            styles += looks[offset:end]
            start = number * self._block + end
        return words, styles

    def _at(self, number: int) -> Words:
        if number not in self._blocks:
            if len(self._blocks) >= _KEPT_BLOCKS:
                self._blocks.pop(next(iter(self._blocks)))
            chunk = self._chunk(number * self._block, (number + 1) * self._block)
            self._blocks[number] = self._format(chunk), self._styles(chunk)
        return self._blocks[number]

    def _chunk(self, start: int, stop: int) -> Array:
        if self._array.flags.c_contiguous:
            return self._array.reshape(-1)[start:stop]
        return np.asarray(self._array.flat[start:stop])

    def _format(self, chunk: Array) -> list[str]:
        if self._texts:
            return [text_word(item, self._shorten) for item in chunk]
        joined = printed(np.concatenate([chunk, self._anchors]), self._options)
        return joined[: len(chunk)]

    def _styles(self, chunk: Array) -> list[Style]:
        styles = [Style.PLAIN] * len(chunk)
        if self._mark is not None:
            for i in np.flatnonzero(self._mark(chunk)):
                styles[i] = Style.MARK
        if is_inexact(chunk.dtype):
            for i in np.flatnonzero(~np.isfinite(chunk)):
                styles[i] = Style.NAN if np.isnan(chunk[i]) else Style.INF
        return styles

    def _deciding(self) -> Array:
        """The elements that decide NumPy's format: extremes, non-finite ones, the longest fraction of a sample."""
        size = self._array.size
        sample = np.asarray(self._array.flat[:: max(1, size // _SAMPLE)])[:_SAMPLE]
        words = printed(sample, self._options)
        numbers = native(sample)
        longest = max(range(len(words)), key=lambda i: _digits(numbers[i], words[i]))
        places = {longest * max(1, size // _SAMPLE), *_extremes(self._array)}
        return np.asarray([self._array.flat[i] for i in sorted(places)], self._array.dtype)


def _digits(number: Any, word: str) -> int:
    """How many digits behind the point `number` needs. Words with exponents have as many as the one with the most."""
    if "e" in word and isinstance(number, np.floating) and np.isfinite(number):
        return len(np.format_float_scientific(number).partition("e")[0])
    return len(word.strip().partition(".")[2])


def _extremes(array: Array) -> set[int]:
    """Places of the least, the greatest, the smallest non-zero magnitude, and one of each non-finite kind.

    Reads the array a chunk at a time. Of each part of a complex number the same.
    """
    if repeated_element(array) is not None:
        return {0}
    best: dict[str, tuple[float, int]] = {}
    for start in range(0, array.size, _CHUNK):
        chunk = native(np.asarray(array.flat[start : start + _CHUNK]))
        parts = {"re": chunk.real, "im": chunk.imag} if chunk.dtype.kind == "c" else {"": chunk}
        for name, part in parts.items():
            for kind, (value, place) in _chunk_extremes(part).items():
                key = name + kind
                if key not in best or value < best[key][0]:
                    best[key] = value, start + place
    return {place for _, place in best.values()}


def _chunk_extremes(part: Array) -> dict[str, tuple[float, int]]:
    """For each kind of extreme a number that is smaller the more extreme it is, and the place."""
    if part.dtype.kind not in "fiu":
        return {}
    found: dict[str, tuple[float, int]] = {}
    for name, mask in (("nan", np.isnan(part)), ("inf", part == np.inf), ("-inf", part == -np.inf)):
        if mask.any():
            found[name] = 0.0, int(mask.argmax())
    finite = np.isfinite(part)
    wide = in_double(part)
    low, high = int(np.where(finite, wide, np.inf).argmin()), int(np.where(finite, wide, -np.inf).argmax())
    if finite[low]:
        found |= {"low": (float(wide[low]), low), "high": (-float(wide[high]), high)}
    magnitude = np.where(finite & (wide != 0), np.abs(wide), np.inf)
    small = int(magnitude.argmin())
    if magnitude[small] < np.inf:
        found["small"] = float(magnitude[small]), small
    return found


def is_text(array: Array) -> bool:
    """Whether the elements are texts, bytes or other objects, and no numbers."""
    return array.dtype.kind in "OSU"


def native(array: Array) -> Array:
    """`array` in a type that NumPy can format: bfloat16 and float8 as float32 (exactly), int4 as int64."""
    if array.dtype.kind in "biucOSU" or array.dtype.type in {np.float16, np.float32, np.float64, np.longdouble}:
        return array
    return array.astype(np.float32 if is_inexact(array.dtype) else np.int64)


def printed(flat: Array, options: Mapping[str, Any]) -> list[str]:
    """Each element of the one-dimensional `flat` as NumPy prints it, all of one width."""
    if not flat.size:
        return []
    joined = np.array2string(
        native(flat), separator=_SEPARATOR, max_line_width=sys.maxsize, threshold=sys.maxsize, **options
    )
    return joined[1:-1].split(_SEPARATOR)


def scalar_text(array: Array, options: Mapping[str, Any]) -> str:
    """The one element of an array without axes, with all of its digits unless somebody asked for fewer."""
    if is_text(array):
        return text_word(array[()], shorten=False)
    text = np.array2string(native(array), **options)
    if "precision" in options or native(array) is not array or array.dtype.kind not in "fc":
        return text
    asked = int(np.get_printoptions()["precision"]) != _NUMPY_PRECISION
    # NumPy keeps digits of a lone number that it leaves out of an array's.
    return text if asked or not np.isfinite(array) or array.dtype.type(text) == array else str(array[()])


def decoded(item: Any) -> Any:
    """A string element as text; bytes that are no UTF-8 keep their escapes."""
    return item.decode("utf-8", "backslashreplace") if isinstance(item, bytes) else item


def text_word(item: Any, shorten: bool) -> str:
    """A text, as Python writes it, in characters that may go to a terminal; a long one cut off if `shorten`."""
    if not isinstance(item, bytes | str):
        return printable(repr(item))
    try:
        text = item.decode("utf-8") if isinstance(item, bytes) else str(item)
    except UnicodeDecodeError:
        text = ""
    word = repr(text) if text or not item else repr(item)
    if shorten and len(word) > _LONGEST_TEXT:
        unit = "bytes" if isinstance(item, bytes) else "characters"
        return f"{printable(word[: _LONGEST_TEXT - 1])}…{word[0]}({len(item):,} {unit})"
    return printable(word)
