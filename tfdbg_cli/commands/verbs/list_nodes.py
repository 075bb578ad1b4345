"""`list_nodes`: the nodes of a graph, chosen and sorted. They are there before a run, and where no value was kept."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfdbg_cli.analysis.layers.layers import layers_of, scope_text
from tfdbg_cli.commands.asked.patterns import pattern
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT, query_line
from tfdbg_cli.commands.query.named import asked_query
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import EVERYWHERE, Argument, ArgumentKind, Command, Moment
from tfdbg_cli.commands.views.links import node_link
from tfdbg_cli.commands.views.short_names import shared_by_most
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import short_device
from tfdbg_cli.model.runs import Opened, RunStart
from tfdbg_cli.model.units import count_text

_NARROWING = ("layer", "node_name_filter", "op_type_filter", "device", "query")
_KEYS: Mapping[str, Callable[[Node], Any]] = {
    "node_name": lambda node: node.name,
    "op_type": lambda node: (node.op_type, node.name),
    "device": lambda node: (node.device, node.name),
}


def _list_nodes(context: Context, options: argparse.Namespace) -> Document:
    graph = context.graph
    found = _chosen(graph, options)
    if options.sort_by in _KEYS:
        found.sort(key=_KEYS[options.sort_by])
    if options.reverse:
        found.reverse()
    names = shared_by_most(graph, len(found), lambda i: found[i].name)
    head = [line(Span(f"{count_text(len(found), 'node')} of {len(graph):,}", Style.TITLE), f" in the {graph.kind}")]
    if any(getattr(options, name) for name in _NARROWING):
        head.append(line(Span("show all", Style.KEY, COMMAND.spell(options, **dict.fromkeys(_NARROWING, "")))))
    if options.query:
        head.append(query_line(options.query, len(found), len(graph), COMMAND.spell(options, query="")))
    head += [*_notes(context), *names.legend(), EMPTY_LINE]

    def row(i: int) -> Row:
        node = found[i]
        return (
            Span(node.op_type, Style.OP),
            Span(short_device(node.device), Style.DEVICE),
            Span(str(len(node.inputs)), Style.NUMBER),
            Span(names.short(node.name), Style.NAME, node_link(node.name)),
        )

    columns = (
        Column("Op type", link=_sort_link("op_type", options), least=14),
        Column("Device", link=_sort_link("device", options), drop=2),
        Column("Reads", right=True, drop=1),
        Column("Node", link=_sort_link("node_name", options), keep_end=True),
    )
    table = [Table(columns, len(found), row)] if found else []
    title = f"nodes[{options.query}]: {len(found):,} of {len(graph):,}" if options.query else "nodes"
    return Document("nodes", (Text(tuple(head)), *table), lambda: _data(graph, found, options), title)


def _chosen(graph: Graph, options: argparse.Namespace) -> list[Node]:
    """The nodes that the flags admit, in the order of the graph."""
    fits_name, fits_type, fits_device = (
        pattern(text) for text in (options.node_name_filter, options.op_type_filter, options.device)
    )
    layers = layers_of(graph) if options.layer else None
    inside = layers.tester(layers.resolve(options.layer)) if layers is not None else None
    found = [
        node
        for node in graph
        if fits_name.search(node.name)
        and fits_type.search(node.op_type)
        and fits_device.search(node.device)
        and (inside is None or inside(node.name))
    ]
    return _admitted(graph, found, options.query) if options.query else found


def _admitted(graph: Graph, found: Sequence[Node], query: str) -> list[Node]:
    rows = PlainRows[Node](
        "a node",
        lambda node: node.name,
        {
            "op": lambda node: node.op_type,
            "device": lambda node: short_device(node.device),
            "layer": lambda node: scope_text(layers_of(graph).layer(node.name)),
        },
    )
    return rows.admitted(asked_query(query), found)


def _notes(context: Context) -> list[Line]:
    """What is to be said of the graph of a file, where nothing else is shown of it."""
    if isinstance(context.stop, RunStart) or len(context.run.tensors):
        return []
    notes = (*(context.stop.notes if isinstance(context.stop, Opened) else ()), *context.run.notes)
    return [line(Span(note, Style.HINT)) for note in notes]


def _sort_link(key: str, options: argparse.Namespace) -> str:
    return COMMAND.spell(options, sort_by=key, reverse=options.sort_by == key and not options.reverse)


def _data(graph: Graph, found: Sequence[Node], options: argparse.Namespace) -> dict[str, Any]:
    rows = [
        {
            "name": node.name,
            "op_type": node.op_type,
            "device": node.device,
            "inputs": [str(tensor) for tensor in node.inputs],
            "control_inputs": list(node.control_inputs),
        }
        for node in found
    ]
    asked = {"query": options.query} if options.query else {}
    return {"graph": str(graph.kind), "total": len(graph), "nodes": rows, **asked}


COMMAND = Command(
    "list_nodes",
    ("ln",),
    "List the nodes of the graph, computed or not.",
    _list_nodes,
    (
        Argument(
            ("-l", "--layer"), "only this Keras layer or name scope", ArgumentKind.LAYER, metavar="NAME", default=""
        ),
        Argument(("-n", "--node_name_filter"), "only these nodes", ArgumentKind.NODE, metavar="REGEX", default=""),
        Argument(
            ("-t", "--op_type_filter"), "only these op types", ArgumentKind.OP_TYPE, metavar="REGEX", default=""
        ),
        Argument(("--device",), "only these devices", ArgumentKind.DEVICE, metavar="REGEX", default=""),
        Argument(("-s", "--sort_by"), "what to sort by", choices=("graph", *_KEYS), default="graph"),
        Argument(("-r", "--reverse"), "the other way round", switch=True),
        QUERY_ARGUMENT,
    ),
    moments=EVERYWHERE - {Moment.STEPPING},
    section="Graph",
    graph=True,
    details="""\
Nodes stand in the order of the graph. Each leads to what it reads and who reads it; heads of columns sort. Files with
graphs open with this list; `lt` lists what was computed.

Examples:
  ln -t MatMul
  ln -l dense_1 -s op_type
  ln -q 'dense op=MatMul'""",
)
