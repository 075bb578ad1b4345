"""`layers`: the Keras layers and name scopes of a run, with what each computed."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfdbg_cli.analysis.graph.roles import Role, role_of
from tfdbg_cli.analysis.layers import Layers, in_tree_order, layers_of, scope_text
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command, Kind
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.health_columns import SumsLater
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.document.units import bytes_text, count_text
from tfdbg_cli.errors import TfdbgError

_DEPTH = 3


@dataclass(slots=True)
class _Sum:
    """What the tensors of one scope, and of those inside it, come to."""

    tensors: int = 0
    nbytes: int = 0
    nonfinite: int | None = 0  # None where a recording does not tell it of all
    roles: dict[Role, int] = field(default_factory=lambda: dict.fromkeys(Role, 0))


def _layers(context: Context, options: argparse.Namespace) -> Document:
    if options.depth is not None and options.depth < 1:
        raise TfdbgError(f"-d counts levels from 1; {options.depth} is too few.")
    layers = layers_of(context.run.graph)
    sums = _sums(context, layers, options.stats)
    if options.query:
        return _found(context, options, layers, sums)
    inside = layers.tester(layers.resolve(options.layer)) if options.layer else None
    depth = options.depth or _DEPTH
    known = [name for name in in_tree_order(sums) if inside is None or inside(name)]
    shown = [name for name in known if name.count("/") < depth] if inside is None else known
    head = _head(context, options, len(known), len(known) - len(shown))
    blocks: list[Block] = [Text((*head, EMPTY_LINE))]
    if shown:
        blocks.append(_table(sums, shown, options, _counted_later(context, options, layers, shown)))
    return Document("layers", tuple(blocks), lambda: {"layers": _data(sums, known, options)}, "layers")


def _found(context: Context, options: argparse.Namespace, layers: Layers, sums: Mapping[str, _Sum]) -> Document:
    """The layers that the query admits, at any depth."""
    inside = layers.tester(layers.resolve(options.layer)) if options.layer else None
    known = [name for name in in_tree_order(sums) if inside is None or inside(name)]

    nodes = _nodes_of(context, layers)

    def bad(name: str) -> float:
        count = sums[name].nonfinite if options.stats else _bad_in(context, nodes[name])
        return float("nan") if count is None else count

    rows = PlainRows(
        "a layer",
        lambda name: name,
        {"layer": lambda name: name},
        {"tensors": lambda name: sums[name].tensors, "size": lambda name: sums[name].nbytes},
        {"bad": bad},
    )
    left = rows.left(options.query, known, COMMAND.spell(options, query=""))
    shown = left.rows
    head = [
        line(Span(count_text(len(shown), "layer or scope", "layers and scopes"), Style.TITLE)),
        *left.head,
        EMPTY_LINE,
    ]
    table = [_table(sums, shown, options, _counted_later(context, options, layers, shown))] if shown else []
    return Document(
        "layers",
        (Text(tuple(head)), *table),
        lambda: {"layers": _data(sums, shown, options), **left.data},
        left.title("layers"),
    )


def _nodes_of(context: Context, layers: Layers) -> Mapping[str, list[str]]:
    """The nodes of every scope and of those inside it, by its name."""
    found: dict[str, list[str]] = {}
    for node in context.run.tensors.nodes():
        scope = layers.layer(node)
        for end in range(1, len(scope) + 1):
            found.setdefault(scope_text(scope[:end]), []).append(node)
    return found


def _bad_in(context: Context, nodes: Sequence[str]) -> int | None:
    """How many elements of the tensors of `nodes` are NaN or infinite; None where that is not known of all."""
    count = 0
    for node in nodes:
        for index in context.run.tensors.named(node):
            summary = context.summary(index)
            if summary is not None and not summary.tells_nonfinite:
                return None
            count += 0 if summary is None else summary.nonfinite
    return count


def _sums(context: Context, layers: Layers, stats: bool) -> Mapping[str, _Sum]:
    """The sums of every scope that holds a tensor, by name, in the order in which the run came to them."""
    store, graph = context.run.tensors, context.run.graph
    found: dict[str, _Sum] = {}
    for node in store.nodes():
        scope = layers.layer(node)
        around = [scope_text(scope[:end]) for end in range(1, len(scope) + 1)]
        for index in store.named(node) if around else ():
            tensor = store[index]
            summary = context.summary(index) if stats else None
            for name in around:
                total = found.setdefault(name, _Sum())
                total.tensors += 1
                total.nbytes += tensor.nbytes or 0
                if summary is not None and total.nonfinite is not None:
                    total.nonfinite = total.nonfinite + summary.nonfinite if summary.tells_nonfinite else None
                total.roles[role_of(graph, node, tensor.op_type)] += 1
    return found


def _head(context: Context, options: argparse.Namespace, known: int, deeper: int) -> list[Line]:
    if not known:
        why = (
            "No tensor was captured."
            if not len(context.run.tensors)
            else "The names of this run hold no layers and scopes, only functions, branches and loops."
        )
        return [line(Span("0 layers and scopes", Style.TITLE)), line(Span(why, Style.HINT))]
    of = f" in {options.layer}" if options.layer else ""
    lines = [line(Span(f"{count_text(known, 'layer or scope', 'layers and scopes')}{of}", Style.TITLE))]
    if deeper:
        link = COMMAND.spell(options, depth=(options.depth or _DEPTH) + 2)
        lines.append(
            line(
                Span(f"{count_text(deeper, 'more lies', 'more lie')} deeper: ", Style.DIM),
                Span(link, Style.KEY, link),
            )
        )
    return lines


def _counted_later(
    context: Context, options: argparse.Namespace, layers: Layers, names: Sequence[str]
) -> SumsLater | None:
    """What counts NaN and infinities of the rows in sight, where the front end shows cells as they come."""
    if not context.later or options.stats:
        return None
    store, nodes = context.run.tensors, _nodes_of(context, layers)
    return SumsLater(context, [[index for node in nodes[name] for index in store.named(node)] for name in names])


def _table(
    sums: Mapping[str, _Sum], names: Sequence[str], options: argparse.Namespace, later: SumsLater | None
) -> Table:
    columns = [
        Column("Tensors", right=True),
        Column("Size", right=True, drop=3),
        Column("fwd", right=True, drop=2),
        Column("grad", right=True, drop=2),
        Column("upd", right=True, drop=2),
    ]
    if options.stats or later is not None:
        columns.append(Column("NaN, ±inf", right=True, width=0 if later is None else 9))
    columns.append(Column("Layer"))
    base = min(name.count("/") for name in names)

    def row(i: int) -> Row:
        name, total = names[i], sums[names[i]]
        link = f"lt -l {quoted(name)}"
        cells = [Span(f"{total.tensors:,}", Style.NUMBER), Span(bytes_text(total.nbytes), Style.NUMBER)]
        for role in Role:
            number = total.roles[role]
            cells.append(
                Span(f"{number:,}" if number else "", Style.NUMBER, f"{link} --role {role}" if number else "")
            )
        if options.stats:
            cells.append(_bad(total.nonfinite, link))
        elif later is not None:
            cells.append(later.cell(i))
        # A layer shows its last part below the scope around it; the first row of a list shows the whole path, and so
        # does every one where the query may have left out what is around it.
        part = name if options.query or not i else name.rpartition("/")[2]
        indent = "" if options.query else "  " * (name.count("/") - base)
        return (*cells, Span(indent + part, Style.NAME, link))

    return Table(tuple(columns), len(names), row, later=later)


def _bad(count: int | None, link: str) -> Span:
    if count is None:
        return Span("?", Style.WARNING)
    return Span(f"{count:,}" if count else "", Style.NAN, f"{link} -f has_inf_or_nan" if count else "")


def _data(sums: Mapping[str, _Sum], names: Sequence[str], options: argparse.Namespace) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "tensors": sums[name].tensors,
            "nbytes": sums[name].nbytes,
            **{str(role): sums[name].roles[role] for role in Role},
            **({"nonfinite": sums[name].nonfinite} if options.stats else {}),
        }
        for name in names
    ]


COMMAND = Command(
    "layers",
    ("ll",),
    "The Keras layers and name scopes, with what each computed.",
    _layers,
    (
        Argument(("layer",), "only this layer or scope and what is inside it", Kind.LAYER, nargs="?", default=""),
        Argument(("-d", "--depth"), f"how many levels to show (default: {_DEPTH})", metavar="N", type=int),
        QUERY_ARGUMENT,
        Argument(("--stats",), "count NaN and infinities; reads every value", switch=True),
    ),
    moments=WITH_TENSORS,
    details="""\
Layers are read off the names of nodes, whichever function, loop or gradient these stand in. A row counts what is
inside it too: fwd what computes the result, grad what differentiates it, upd what updates variables; an op of the
optimizer counts for the layer whose variable it updates. Each number leads to those tensors.

Examples:
  layers
  layers dense_1 --stats
  layers -q 'bad>0 size>1MB'      layers with NaN or infinities, among large ones""",
)
