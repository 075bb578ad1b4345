"""The drawings of a document: made beside the keys, and put in the place of the lines kept free for them."""

from __future__ import annotations

from collections.abc import Callable

from urwid.util import get_encoding

from tfdbg_cli.document.figure import Figure
from tfdbg_cli.tui.array.sketch import Sketch
from tfdbg_cli.tui.array.surface import Surface
from tfdbg_cli.tui.reading.paint import ScreenRow, assemble, attribute
from tfdbg_cli.tui.reading.viewport import Viewport


class Figures:
    """The figures of what `view` shows."""

    def __init__(self, view: Viewport) -> None:
        self._view = view
        blocks = enumerate(view.document.blocks)
        self._sketches = {number: Sketch(block) for number, block in blocks if isinstance(block, Figure)}

    @property
    def running(self) -> bool:
        """Whether a value is still to be read or counted."""
        return any(sketch.running for sketch in self._sketches.values())

    def work(self, enough: Callable[[], bool], *, meanwhile: bool = False) -> None:
        """Go on with the values until it is `enough`; a step of each while something else is waited for."""
        for sketch in self._sketches.values():
            if sketch.running and (meanwhile or not enough()):
                sketch.work(enough)

    def row_at(self, index: int, colors: int) -> ScreenRow | None:
        """The row of a figure in the place of that line, in so many colours; None where no figure stands."""
        view = self._view
        for number, sketch in self._sketches.items():
            part = view.parts[number]
            if part.start <= index < part.start + part.length:
                rows = sketch.rows(Surface(view.cols, part.length, colors, get_encoding().startswith("utf")))
                row = rows[index - part.start] if index - part.start < len(rows) else []
                return assemble([(text, attribute(*look)) for text, look in row], view.cols, attribute())
        return None
