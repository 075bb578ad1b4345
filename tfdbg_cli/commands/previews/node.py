"""A node at a glance: what it gave, or where nothing of it was captured what is around it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tfdbg_cli.analysis.graph.nodes.feeds import fed_value, feed_name
from tfdbg_cli.commands.asked.node_choice import find_node
from tfdbg_cli.commands.asked.result_names import split_of
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.previews.feed import array_blocks
from tfdbg_cli.commands.previews.surroundings import Neighbourhood, made_at_data, made_at_lines, store_of
from tfdbg_cli.commands.previews.tensor import preview_of
from tfdbg_cli.commands.views.links import given_link, node_link
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import node_of


def node_preview(context: Context, options: argparse.Namespace) -> Document:
    """The preview of the first output of the node that `ni` would show, as it was produced last."""
    store = store_of(context)
    name = node_of(split_of(context.call, options.node_name)[0])
    if not store.named(name):  # a graph need not hold what was captured
        name = find_node(context, options.node_name, options.device).node.name
    captured = store.named(name)
    if captured:
        return preview_of(context, store.named(name, min(store[index].slot for index in captured))[-1])
    node = find_node(context, name, options.device).node
    around = Neighbourhood(context, node.name, node.device, None)
    head = (
        line(Span(node.name, Style.TITLE, node_link(node.name))),
        line(Span(node.op_type, Style.OP), "  ", Span(node.device, Style.DEVICE)),
        *made_at_lines(context, node.name),
        EMPTY_LINE,
    )
    about = {"previewed": node.name, "made_at": made_at_data(context, node.name)}
    blocks = (Text(head), *_given(context, node), *around.blocks())
    return Document("preview", blocks, lambda: about | around.data(), node.name)


def _given(context: Context, node: Node) -> Sequence[Block]:
    """What the run was given in the place of a node of which nothing was captured."""
    name = feed_name(node)
    link = "" if name is None else given_link(context.call, name)
    array = fed_value(context.call.feeds, name) if name is not None and link else None
    if array is None:
        return (Text((line(Span("Nothing of it was captured.", Style.DIM)),)),)
    return array_blocks(context, Span(f"given as {name}", Style.LABEL, link), array)
