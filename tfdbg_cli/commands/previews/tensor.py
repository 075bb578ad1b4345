"""A tensor at a glance: its health, what it looks like, what it was made from and what was made of it."""

from __future__ import annotations

import argparse
from typing import Any

from tfdbg_cli.commands.asked.tensor_choice import Choice, choose, part_shape, part_shown
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.previews.figures import figure_blocks
from tfdbg_cli.commands.previews.health_rows import own_health
from tfdbg_cli.commands.previews.surroundings import Neighbourhood, described, made_at_data, made_at_lines
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.given_instead import given_instead
from tfdbg_cli.commands.views.links import execution_count, node_link, tensor_link
from tfdbg_cli.commands.views.values.executions import which
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.figure import LateValue
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.model.dtypes import HANDLES
from tfdbg_cli.model.names import short_device
from tfdbg_cli.model.tensors import Shape, TensorStore
from tfdbg_cli.model.units import bytes_text, shape_text


def tensor_preview(context: Context, options: argparse.Namespace) -> Document:
    """What `pt` would show, at a glance. Of several executions without -n the last one."""
    choice = choose(context, options.tensor, options.device)
    return preview_of(context, _index(choice, options), choice.slicing)


def chosen_index(context: Context, options: argparse.Namespace) -> int:
    """The index of the tensor that `pt` with these options shows; of several executions the last one.

    Raises:
        TfdbgError: there is no such tensor.

    """
    return _index(choose(context, options.tensor, options.device), options)


def _index(choice: Choice, options: argparse.Namespace) -> int:
    asked = which(choice, options.number)
    return choice.execution(asked) if isinstance(asked, int) else choice.indices[-1]


def preview_of(context: Context, index: int, slicing: str = "") -> Document:
    """The tensor at `index` of the run looked at; with a slice `[…]` what that part holds, then the whole around it.

    Raises:
        TfdbgError: the slice does not fit.

    """
    store = context.run.tensors
    tensor = store[index]
    around = Neighbourhood(context, tensor.node, tensor.device, index)
    shape = part_shape(tensor.shape, slicing)
    value = LateValue(lambda: part_shown(store, index, slicing))
    figures = figure_blocks(context, value, tensor.dtype, shape)
    title = f"{tensor.name}{slicing}"
    given = given_instead(context, [str(tensor.name)])
    part = [Text((*_part_facts(store, index, slicing, shape),)), *figures, Text((EMPTY_LINE,))] if slicing else []
    blocks: list[Block] = [
        *part,
        Text((*_facts(store, index), *given, *made_at_lines(context, tensor.node), EMPTY_LINE)),
        *(() if tensor.dtype in HANDLES else own_health(context, index)),
        *(() if slicing else figures),
        *around.blocks(),
    ]
    data = {"previewed": title} | ({"slice": slicing} if slicing else {})
    return Document("preview", tuple(blocks), lambda: data | _data(context, index, around), title)


def _part_facts(store: TensorStore, index: int, slicing: str, shape: Shape | None) -> list[Line]:
    tensor = store[index]
    place = f"{tensor.name}{slicing}"
    several = f" -n {tensor.execution}" if execution_count(store, index) > 1 else ""
    return [
        line(Span(place, Style.TITLE, f"pt {quoted(place)}{several}")),
        line(f"{tensor.dtype}", Span(shape_text(shape), Style.NUMBER), Span("  of", Style.LABEL)),
    ]


def _facts(store: TensorStore, index: int) -> list[Line]:
    tensor = store[index]
    link = tensor_link(store, index)
    several = execution_count(store, index) > 1
    again = [Span(f"  execution {tensor.execution}", Style.LABEL)] if several else []
    on: list[Span | str] = ["  ", Span(short_device(tensor.device), Style.DEVICE)] if tensor.device else []
    return [
        line(Span(str(tensor.name), Style.TITLE, link), *again),
        line(
            Span(tensor.op_type, Style.OP, node_link(tensor.node)),
            f"  {tensor.dtype}",
            Span(shape_text(tensor.shape), Style.NUMBER),
            f"  {bytes_text(tensor.nbytes)}",
            *on,
        ),
    ]


def _data(context: Context, index: int, around: Neighbourhood) -> dict[str, Any]:
    tensor = context.run.tensors[index]
    about = {"tensor": described(context, index), "made_at": made_at_data(context, tensor.node)}
    return about | around.data()
