"""What a value looks like, in a preview: drawings for a screen, its elements in short for everybody else."""

from __future__ import annotations

from tfdbg_cli.commands.context import Context
from tfdbg_cli.document.array import ArrayBlock, ArrayStyle
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.figure import DrawingWay, Figure, LateValue
from tfdbg_cli.document.text import EMPTY_LINE, Style, lines_of
from tfdbg_cli.model.dtypes import HANDLES
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import NoValue

_SHORT = ArrayStyle(threshold=60, edgeitems=3)
_HISTOGRAM_ROWS = 6
_MOST_CELLS = 8  # rows of elements
_PICTURE_ROWS = 18
_CURVE_ROWS = 8
_PICTURE_FROM = 12  # places of both axes from which on a picture says more than some of the elements
_COLOURS = frozenset({1, 3, 4})  # lengths of a last axis that are colours


def figure_blocks(
    context: Context, value: LateValue, dtype: str, shape: Shape | None, *, spread: bool = True
) -> tuple[Block, ...]:
    """How the elements of `value` are spread, if that is wanted, and a picture of it or its first elements."""
    if not context.later:
        value.read()
        return _in_short(value)
    if dtype in HANDLES or (shape is not None and not all(shape)):
        return ()
    blank = Text((EMPTY_LINE,))
    cells = _cells(value, shape)
    if dtype == "string" or shape == ():
        return (blank, cells)
    histogram = (blank, Figure(value, DrawingWay.HISTOGRAM, _HISTOGRAM_ROWS)) if spread else ()
    curve = (blank, Figure(value, DrawingWay.CURVE, _CURVE_ROWS)) if is_curve(shape) else ()
    return (
        *histogram,
        blank,
        Figure(value, DrawingWay.PICTURE, _PICTURE_ROWS) if is_picture(shape) else cells,
        *curve,
    )


def is_curve(shape: Shape | None) -> bool:
    """Whether such an array has one axis, which is long enough to be looked at as a curve."""
    return shape is not None and len(shape) == 1 and shape[0] >= _PICTURE_FROM


def is_picture(shape: Shape | None) -> bool:
    """Whether a plane of such an array is large enough to be looked at as a picture."""
    if shape is None or len(shape) < 2:
        return False
    plane = shape[-3:-1] if len(shape) > 2 and shape[-1] in _COLOURS else shape[-2:]
    return min(plane) >= _PICTURE_FROM


def _cells(value: LateValue, shape: Shape | None) -> Figure:
    height = shape[-2] if shape is not None and len(shape) > 1 else 1  # an array of one axis lies in a row
    place = 1 if shape is not None and len(shape) > 2 else 0  # a row that says which part it is
    return Figure(value, DrawingWay.CELLS, min(_MOST_CELLS, height) + 1 + place)


def _in_short(value: LateValue) -> tuple[Block, ...]:
    known = value.known
    assert known is not None, "it was read"
    if isinstance(known, NoValue):
        return (Text((EMPTY_LINE, *lines_of(known.text, Style.WARNING))),)
    return (Text((EMPTY_LINE,)), ArrayBlock(known, _SHORT))
