"""Drawings of an array in a document. What they look like is the front end's to say, which knows its terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tfdbg_cli.document.text import EMPTY_LINE, Line
from tfdbg_cli.model.values import Value


class Way(StrEnum):
    """The ways to draw an array."""

    HISTOGRAM = "histogram"
    CELLS = "cells"  # its first elements, as many as there is room for
    PICTURE = "picture"
    CURVE = "curve"  # of an array with one axis


class LateValue:
    """A value that is read when somebody wants to draw it, and then once: `known` is it, None before."""

    def __init__(self, read: Callable[[], Value]) -> None:
        self._read = read
        self.known: Value | None = None

    def read(self) -> None:
        """Read the value."""
        self.known = self._read()


@dataclass(frozen=True, eq=False)
class Figure:
    """A drawing of `value` in `rows` lines, which a front end that draws puts in the place of blank ones."""

    value: LateValue
    way: Way
    rows: int

    def lines(self, width: int | None) -> Sequence[Line]:
        return (EMPTY_LINE,) * self.rows
