"""The drawings of a document: made beside the keys, and put in the place of the lines kept free for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from urwid.util import get_encoding

from tfdbg_cli.document.figure import Figure
from tfdbg_cli.tui.array.sketch import Sketch
from tfdbg_cli.tui.array.surface import Row, Surface
from tfdbg_cli.tui.reading.paint import ScreenRow, assemble, attribute
from tfdbg_cli.tui.reading.viewport import Viewport


class Figures:
    """The figures of what `view` shows."""

    def __init__(self, view: Viewport) -> None:
        self._view = view
        blocks = enumerate(view.document.blocks)
        self._sketches = {number: Sketch(block) for number, block in blocks if isinstance(block, Figure)}
        self._painted: dict[int, tuple[Sequence[Row], tuple[object, ...], ScreenRow]] = {}  # by their lines

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
                encoding = get_encoding()
                surface = Surface(view.cols, part.length, colors, encoding.startswith("utf"))
                return self._row(index, sketch.rows(surface), index - part.start, surface, encoding)
        return None

    def _row(self, line: int, drawn: Sequence[Row], at: int, surface: Surface, encoding: str) -> ScreenRow:
        """The row at `at` of a figure as it was drawn, painted once for each drawing."""
        before = self._painted.get(line)
        if before is not None and before[0] is drawn and before[1] == (at, surface, encoding):
            return before[2]
        row = drawn[at] if at < len(drawn) else []
        painted = assemble([(text, attribute(*look)) for text, look in row], surface.cols, attribute())
        self._painted[line] = drawn, (at, surface, encoding), painted
        return painted
