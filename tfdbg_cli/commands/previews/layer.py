"""A layer at a glance: its first tensors with the health of each."""

from __future__ import annotations

import argparse

import numpy as np

from tfdbg_cli.analysis.layers.layers import layers_of
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.previews.health_rows import HealthRow, health_section
from tfdbg_cli.commands.previews.surroundings import described, store_of
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import tensor_link
from tfdbg_cli.commands.views.short_names import shared_by_most
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.text import Span, Style, line
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import Array

_MOST = 16  # tensors that are listed


def is_layer(options: argparse.Namespace) -> bool:
    """Whether `lt` is asked for all tensors of a layer: which of them are of some role, say, is not known at once."""
    narrowed = (
        options.tensor_filter, options.query, options.node_name_filter, options.op_type_filter, options.dtype,
        options.shape, options.device, options.role,
    )  # fmt: skip
    return bool(options.layer) and not any(narrowed)


def layer_preview(context: Context, options: argparse.Namespace) -> Document:
    """The first tensors that `lt -l` would list, in the order of their execution."""
    store = store_of(context)
    indices = _indices(context, options)
    shown = np.sort(np.partition(indices, _MOST)[:_MOST] if len(indices) > _MOST else indices).tolist()
    names = shared_by_most(context.run.graph, len(shown), lambda i: store[shown[i]].node)
    rows = []
    for index in shown:
        tensor = store[index]
        name = Span(names.short(str(tensor.name)), Style.NAME, tensor_link(store, index))
        rows.append(HealthRow(index, name, Span(tensor.op_type, Style.OP)))
    more = f"lt -l {quoted(options.layer)}"
    left = len(indices) - len(shown)
    heading = Span(count_text(len(indices), "tensor"), Style.HEADING)
    blocks = (
        Text((line(Span(options.layer, Style.TITLE, more)), *names.legend())),
        *health_section(context, heading, rows, Span(f"{left:,} more", Style.KEY, more) if left else None),
    )
    data = {"previewed": options.layer, "count": len(indices)}
    return Document(
        "preview",
        blocks,
        lambda: data | {"tensors": [described(context, index) for index in shown]},
        options.layer,
    )


def _indices(context: Context, options: argparse.Namespace) -> Array:
    """The tensors of the layer, in no order; those that `layers` has counted are known."""
    store = store_of(context)
    counted = context.memory.sums.get((context.current, len(store), False), {}).get(options.layer)
    if counted is not None:
        return np.frombuffer(counted.indices, np.int64)
    layers = layers_of(context.run.graph)
    inside = layers.tester(layers.resolve(options.layer))
    return np.array([index for node in store.nodes() if inside(node) for index in store.named(node)], np.int64)
