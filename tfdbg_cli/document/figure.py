"""Drawings of an array in a document. The front end decides how they look, since it knows its terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tfdbg_cli.document.text import EMPTY_LINE, Line
from tfdbg_cli.model.values import Value


class DrawingWay(StrEnum):
    """The ways to draw an array."""

    HISTOGRAM = "histogram"
    CELLS = "cells"  # its first elements, as many as there is room for
    PICTURE = "picture"
    CURVE = "curve"  # of an array with one axis


class LateValue:
    """A value that a front end reads only when it draws it; `known` is None until `read` was called."""

    def __init__(self, read: Callable[[], Value]) -> None:
        self._read = read
        self.known: Value | None = None

    def read(self) -> None:
        """Read the value."""
        self.known = self._read()


@dataclass(frozen=True, eq=False)
class Figure:
    """A drawing of `value`: `rows` blank lines, in whose place a front end that can draw puts it."""

    value: LateValue
    way: DrawingWay
    rows: int

    def lines(self, width: int | None) -> Sequence[Line]:
        return (EMPTY_LINE,) * self.rows
