"""A search in printed arrays by what their elements are, and not by the digits that stand there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.document.array import ArrayBlock
from tfdbg_cli.document.text import Line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.statistics import has_numbers
from tfdbg_cli.model.values import Array
from tfdbg_cli.tui.array.chunks import piece
from tfdbg_cli.tui.array.condition import ElementCondition, condition

# A plain number may be searched for as it is printed, rounded as it is.
_BY_VALUE = re.compile(r"\s*([-+]?inf|nan|([<>]=?|[=!]?=)\s*[-+]?[\d.].*)\s*", re.IGNORECASE)
_WORD = re.compile(r"[^\s\[\]]+")  # an element as it is printed


@dataclass(frozen=True, slots=True)
class SoughtValues:
    """A condition that is asked of the elements of one printed array."""

    block: ArrayBlock
    asked: ElementCondition

    def places(self, start: int, stop: int) -> Array:
        """Which of the elements `start` to `stop` meet it, all counted in C order."""
        return np.flatnonzero(self.asked.test(piece(self.block.array, start, stop))) + start

    def ranges(self, line: Line) -> list[tuple[int, int]]:
        """Where the elements that meet it stand on `line` of the array, in characters of its text."""
        array = self.block.array
        if line.element is None or len(line.element) != array.ndim:
            return []
        gap = "..."  # which stands for elements that are left out: those behind it are not counted on
        words = [word.span() for word in _WORD.finditer(line.text.partition(gap)[0])]
        start = int(np.ravel_multi_index(line.element, array.shape)) if array.ndim else 0
        met = self.asked.test(piece(array, start, start + len(words)))
        return [span for span, is_met in zip(words, met, strict=False) if is_met]


def sought_values(text: str, blocks: Sequence[object]) -> dict[int, SoughtValues]:
    """What `text` asks of the arrays among `blocks`, by their places; empty where it is to be searched for as text.

    Complex elements, which are printed with blanks in them, are not asked; neither are texts.
    """
    if _BY_VALUE.fullmatch(text) is None:
        return {}
    found = {}
    for at, block in enumerate(blocks):
        if isinstance(block, ArrayBlock) and has_numbers(block.array) and block.array.dtype.kind != "c":
            try:
                found[at] = SoughtValues(block, condition(text, block.array))
            except TfdbgError:  # no number behind the sign: it may be a regular expression
                return {}
    return found
