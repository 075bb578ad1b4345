"""`layers`: the Keras layers and name scopes of a run, with what each computed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tfdbg_cli.analysis.choosing.known_figures import Known, added
from tfdbg_cli.analysis.graph.nodes.roles import Role
from tfdbg_cli.analysis.layers.layers import Layers, layers_of
from tfdbg_cli.analysis.layers.scope_sums import ScopeSum, node_sums, scope_sums
from tfdbg_cli.commands.asked.arguments import FOLD_ARGUMENTS
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.folds import EVERY, Folds, fold_command, sign, unfolded
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.named import asked_query
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, ArgumentKind, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.lists.health_columns import SumsLater
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.units import bytes_text, count_text

_DEPTH = 3


def _layers(context: Context, options: argparse.Namespace) -> Document:
    if options.depth is not None and options.depth < 1:
        raise TfdbgError(f"-d counts levels from 1; {options.depth} is too few.")
    layers = layers_of(context.run.graph)
    sums = _sums(context, options)
    folds = context.folds.get("layers", Folds()).followed(options, lambda scope: scope in sums)
    context.folds["layers"] = folds
    if options.query:
        return _found(context, options, layers, sums)
    inside = layers.tester(layers.resolve(options.layer)) if options.layer else None
    depth = options.depth or _DEPTH
    known = [name for name in sums if inside is None or inside(name)]
    shown, signs = unfolded(
        known, lambda name: folds.is_open(name, inside is not None or name.count("/") + 1 < depth)
    )
    head = _head(context, options, len(known), len(known) - len(shown), by_hand=folds != Folds())
    blocks: list[Block] = [Text((*head, EMPTY_LINE))]
    if shown:
        blocks.append(_table(context, sums, shown, signs, options, _counted_later(context, options, sums, shown)))
    return Document("layers", tuple(blocks), lambda: {"layers": _data(context, sums, known, options)}, "layers")


def _found(context: Context, options: argparse.Namespace, layers: Layers, sums: Mapping[str, ScopeSum]) -> Document:
    """The layers that the query admits, at any depth."""
    inside = layers.tester(layers.resolve(options.layer)) if options.layer else None
    known = [name for name in sums if inside is None or inside(name)]

    left = _facts(context, options, sums).left(options.query, known, COMMAND.spell(options, query=""))
    shown = left.rows
    head = [
        line(Span(count_text(len(shown), "layer or scope", "layers and scopes"), Style.TITLE)),
        *left.head,
        EMPTY_LINE,
    ]
    table = (
        [_table(context, sums, shown, {}, options, _counted_later(context, options, sums, shown))] if shown else []
    )
    return Document(
        "layers",
        (Text(tuple(head)), *table),
        lambda: {"layers": _data(context, sums, shown, options), **left.data},
        left.title("layers"),
    )


def _facts(context: Context, options: argparse.Namespace, sums: Mapping[str, ScopeSum]) -> PlainRows[str]:
    """What a query can ask of a layer, by its name."""

    def bad(name: str) -> Known:
        count = sums[name].nonfinite if options.stats else None
        return _bad_in(context, sums[name]) if count is None else count

    return PlainRows(
        "a layer",
        lambda name: name,
        {"layer": lambda name: name},
        {"tensors": lambda name: sums[name].tensors, "size": lambda name: sums[name].nbytes},
        {"bad": bad},
    )


def _bad_in(context: Context, total: ScopeSum) -> Known:
    """How many elements of its tensors are NaN or infinite, as far as that is known."""
    return added(context.count(index, "bad") for index in total.indices)


def _sums(context: Context, options: argparse.Namespace) -> Mapping[str, ScopeSum]:
    """What the tensors of each scope come to, counted once."""
    for _ in _sums_in_steps(context, options):
        pass
    return context.memory.sums[_key(context, options)]


def _key(context: Context, options: argparse.Namespace) -> tuple[int, int, bool]:
    return context.current, len(context.run.tensors), options.stats


def _sums_in_steps(context: Context, options: argparse.Namespace) -> Iterator[float | None]:
    key, known, run = _key(context, options), context.memory.sums, context.run
    if key not in known:
        nonfinite_of, layers = context.nonfinite if options.stats else None, layers_of(run.graph)
        counting = scope_sums(run.tensors, run.graph, layers, nonfinite_of)
        for found in node_sums(run.graph, layers) if _counts_nodes(context) else counting:
            yield None
            if found is not None:
                known[key] = found


def _in_steps(context: Context, options: argparse.Namespace) -> Iterator[float | None]:
    """Add up what is in the scopes, and count what a query asks of them."""
    yield from _sums_in_steps(context, options)
    if not options.query:
        return
    sums = context.memory.sums[_key(context, options)]
    for name in _facts(context, options, sums).undecided(asked_query(options.query), list(sums)):
        for _ in context.summaries_in_steps(sums[name].indices):
            yield None


def _counts_nodes(context: Context) -> bool:
    """Whether the nodes are counted: it is a graph out of a file, and no value was kept."""
    return context.run.is_graph_alone


def _head(
    context: Context, options: argparse.Namespace, known: int, deeper: int, *, by_hand: bool = False
) -> list[Line]:
    """What stands above the rows; what was folded `by_hand` would not be shown by more levels alone."""
    if not known:
        why = (
            "This run has no tensor here: `lt` says why."
            if not len(context.run.tensors) and not _counts_nodes(context)
            else "The names of this run hold no layers and scopes, only functions, branches and loops."
        )
        return [line(Span("0 layers and scopes", Style.TITLE)), line(Span(why, Style.HINT))]
    of = f" in {options.layer}" if options.layer else ""
    lines = [line(Span(f"{count_text(known, 'layer or scope', 'layers and scopes')}{of}", Style.TITLE))]
    if deeper:
        further = {"unfold": EVERY} if by_hand else {"unfold": "", "depth": (options.depth or _DEPTH) + 2}
        link = COMMAND.spell(options, fold="", levels=None, **further)
        lines.append(
            line(
                Span(f"{count_text(deeper, 'more lies', 'more lie')} deeper: ", Style.DIM),
                Span(link, Style.KEY, link),
            )
        )
    return lines


def _counted_later(
    context: Context, options: argparse.Namespace, sums: Mapping[str, ScopeSum], names: Sequence[str]
) -> SumsLater | None:
    """What counts NaN and infinities of the rows in sight, where the front end shows cells as they come."""
    if not context.later or options.stats or _counts_nodes(context):
        return None
    return SumsLater(context, lambda row: sums[names[row]].indices)


def _table(
    context: Context,
    sums: Mapping[str, ScopeSum],
    names: Sequence[str],
    signs: Mapping[str, bool],
    options: argparse.Namespace,
    later: SumsLater | None,
) -> Table:
    of_nodes = _counts_nodes(context)
    columns = [
        Column("Nodes" if of_nodes else "Tensors", right=True),
        *([] if of_nodes else [Column("Size", right=True, drop=3)]),
        Column("fwd", right=True, drop=2),
        Column("grad", right=True, drop=2),
        Column("upd", right=True, drop=2),
    ]
    if options.stats or later is not None:
        columns.append(Column("NaN, ±inf", right=True, width=0 if later is None else 9))
    if signs:
        columns.append(Column("", width=1))
    columns.append(Column("Layer", keep_end=True, subject=True))
    base = min(name.count("/") for name in names)

    def row(i: int) -> Row:
        name, total = names[i], sums[names[i]]
        link = f"{'ln' if of_nodes else 'lt'} -l {quoted(name)}"
        cells = [Span(f"{total.tensors:,}", Style.NUMBER)]
        cells += [] if of_nodes else [Span(bytes_text(total.nbytes), Style.NUMBER)]
        for role in Role:
            number = total.roles[role]
            cells.append(
                Span(
                    f"{number:,}" if number else "",
                    Style.NUMBER,
                    f"{link} --role {role}" if number and not of_nodes else "",
                )
            )
        if options.stats:
            cells.append(_bad(total.nonfinite, link))
        elif later is not None:
            cells.append(later.cell(i))
        # A layer shows its last part below the scope around it; the first row of a list shows the whole path, and so
        # does every one where the query may have left out what is around it.
        part = name if options.query or not i else name.rpartition("/")[2]
        indent = "" if options.query else "  " * (name.count("/") - base)
        if signs:
            folding = fold_command(COMMAND.spell(options), name, signs[name]) if name in signs else ""
            cells.append(Span(sign(signs.get(name)).strip(), Style.KEY, folding))
        return (*cells, Span(indent + part, Style.NAME, link))

    return Table(tuple(columns), len(names), row, later=later)


def _bad(count: int | None, link: str) -> Span:
    if count is None:
        return Span("?", Style.WARNING)
    return Span(f"{count:,}" if count else "", Style.NAN, f"{link} -f has_inf_or_nan" if count else "")


def _data(
    context: Context, sums: Mapping[str, ScopeSum], names: Sequence[str], options: argparse.Namespace
) -> list[dict[str, Any]]:
    counted = "nodes" if _counts_nodes(context) else "tensors"
    return [
        {
            "name": name,
            counted: sums[name].tensors,
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
        Argument(
            ("layer",), "only this layer or scope and what is inside it", ArgumentKind.LAYER, nargs="?", default=""
        ),
        Argument(("-d", "--depth"), f"how many levels to show (default: {_DEPTH})", metavar="N", type=int),
        QUERY_ARGUMENT,
        *FOLD_ARGUMENTS,
        Argument(("--stats",), "count NaN and infinities; reads every value", switch=True),
    ),
    moments=WITH_TENSORS,
    graph=True,
    steps=_in_steps,
    details="""\
Layers are read off the names of nodes, whichever function, loop or gradient these stand in. A row counts what is
inside it too: fwd what computes the result, grad what differentiates it, upd what updates variables; an op of the
optimizer counts for the layer whose variable it updates. Each number leads to those tensors. A row with + is folded:
what is inside shows with `--unfold`, or the key x; what was folded stays so.

Examples:
  layers
  layers dense_1 --stats
  layers -q 'bad>0 size>1MB'      layers with NaN or infinities, among large ones""",
)
