"""What a run was fed, at a glance."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tfdbg_cli.commands.asked.tensor_choice import sliced
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.previews.figures import figure_blocks
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.values.feed_values import feed_named, feed_numbers
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.figure import LateValue
from tfdbg_cli.document.text import Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.names import split_slice
from tfdbg_cli.model.tensors import nbytes_of
from tfdbg_cli.model.units import bytes_text, shape_text
from tfdbg_cli.model.values import Array


def feed_preview(context: Context, options: argparse.Namespace) -> Document:
    """What `pf` would show, at a glance."""
    text, slicing = split_slice(options.feed)
    name = feed_named(context.call.feeds, text)
    array = feed_numbers(context.call.feeds[name])
    if array is None:
        raise TfdbgError(f"{name} is no array.", hint=f"`pf {quoted(name)}` shows what it is.")
    array, place = sliced(array, slicing), f"{name}{slicing}"
    blocks = array_blocks(context, Span(place, Style.TITLE, f"pf {quoted(place)}"), array)
    data = {"previewed": place, "dtype": name_of(array.dtype), "shape": list(array.shape)}
    return Document("preview", tuple(blocks), lambda: data, place)


def array_blocks(context: Context, name: Span, array: Array, *, spread: bool = True) -> Sequence[Block]:
    """An array that is at hand: what it is, how its elements are spread if that is wanted, and what it looks like."""
    value = LateValue(lambda: array)
    dtype = name_of(array.dtype)
    shape = Span(shape_text(array.shape), Style.NUMBER)
    facts = line(f"{dtype}", shape, f"  {bytes_text(nbytes_of(array))}")
    return Text((line(name), facts)), *figure_blocks(context, value, dtype, array.shape, spread=spread)
