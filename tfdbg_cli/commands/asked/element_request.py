"""Asking for one element of an array on show, as `@[2, 0]`."""

from __future__ import annotations

from tfdbg_cli.document.array import ArrayBlock
from tfdbg_cli.document.document import Document
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.units import shape_text


def require_element(document: Document, index: tuple[int, ...]) -> None:
    """Refuse an index that lies outside of every array of `document` with as many axes.

    Raises:
        TfdbgError: it does; the message names the shape on show, which is that of the slice if one was asked for.

    """
    shapes = [block.array.shape for block in document.blocks if isinstance(block, ArrayBlock)]
    fitting = [shape for shape in shapes if len(shape) == len(index)]
    if fitting and not any(all(i < n for i, n in zip(index, shape, strict=True)) for shape in fitting):
        raise TfdbgError(
            f"There is no element {list(index)}: the shape shown is {shape_text(fitting[0])}.",
            hint="In a slice the indices count from its own beginning.",
        )
