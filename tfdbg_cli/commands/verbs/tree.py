"""`tree`: the nodes of the graph by the scopes in their names, folded until somebody unfolds them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from tfdbg_cli.analysis.layers.name_tree import NameTree, TreeRow
from tfdbg_cli.commands.asked.arguments import FOLD_ARGUMENTS
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.folds import Folds, fold_command, sign
from tfdbg_cli.commands.registry import Argument, ArgumentKind, Command, Moment
from tfdbg_cli.commands.views.links import node_link
from tfdbg_cli.commands.views.lists.health_columns import SumsLater
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import RunStart
from tfdbg_cli.model.tensors import EMPTY_STORE
from tfdbg_cli.model.units import count_text

_AT_ONCE = 1_000  # rows found between two chances to look at the keyboard


def _tree(context: Context, options: argparse.Namespace) -> Document:
    tree = _names(context)
    root = options.scope.strip("/")
    if root and root not in tree:
        raise TfdbgError(f"There is no scope {options.scope!r} in this graph.", hint="`tree` shows them.")
    folds = context.folds.get("tree", Folds()).followed(options, tree.__contains__)
    rows = _rows(context, tree, folds, root)
    context.folds["tree"] = folds
    nodes, inside = count_text(tree.nodes(root), "node"), f" in {root}" if root else ""
    head = line(Span(f"{nodes}{inside} by the scopes in their names", Style.TITLE))
    blocks: list[Block] = [Text((head, EMPTY_LINE))]
    if rows:
        blocks.append(_table(context, tree, rows, COMMAND.spell(options)))
    return Document(
        "tree",
        tuple(blocks),
        lambda: {"scope": root, "rows": [_data(tree, shown) for shown in rows]},
        f"tree {root}".strip(),
    )


def _in_steps(context: Context, options: argparse.Namespace) -> Iterator[float | None]:
    """Find the rows: of a large graph with every scope unfolded there are many."""
    tree, root = _names(context), options.scope.strip("/")
    if not root or root in tree:
        folds = context.folds.get("tree", Folds()).followed(options, tree.__contains__)
        yield from _rows_in_steps(context, tree, folds, root)


def _names(context: Context) -> NameTree:
    """The tree of the names of the graph, and of tensors whose nodes no graph tells; made once."""
    before = isinstance(context.stop, RunStart) and context.stepper is None
    store = EMPTY_STORE if before else context.run.tensors
    key = context.current, len(store)
    if key not in context.memory.trees:
        context.memory.trees[key] = NameTree((*context.graph.names(), *store.nodes()), store.named)
    return context.memory.trees[key]


def _rows(context: Context, tree: NameTree, folds: Folds, root: str) -> Sequence[TreeRow]:
    """The rows below `root`: those in folded scopes left out."""
    for _ in _rows_in_steps(context, tree, folds, root):
        pass
    assert context.memory.tree_rows is not None
    return context.memory.tree_rows[1]


def _rows_in_steps(context: Context, tree: NameTree, folds: Folds, root: str) -> Iterator[float | None]:
    """Find them; those found last are kept, where `_rows` looks for them."""
    key = tree, root, folds.key
    if context.memory.tree_rows is None or context.memory.tree_rows[0] != key:
        found: list[TreeRow] = []
        for row in tree.rows(root, folds.is_open):
            found.append(row)
            if len(found) % _AT_ONCE == 0:
                yield None
        context.memory.tree_rows = key, found


def _table(context: Context, tree: NameTree, rows: Sequence[TreeRow], command: str) -> Table:
    later = SumsLater(context, lambda i: tree.indices(rows[i].branch.name)) if _counts(context) else None
    columns = [Column("Nodes", right=True), Column("Tensors", right=True, drop=2)]
    if later is not None:
        columns += [Column("NaN, ±inf", right=True, width=9), Column("|x| max", right=True, width=9, drop=1)]
    columns += [Column("Op type", drop=3), Column("Name")]

    def row(i: int) -> Row:
        shown = rows[i]
        branch = shown.branch
        tensors = tree.tensors(branch.name)
        cells = [
            Span(f"{tree.nodes(branch.name):,}" if branch.is_scope else "", Style.NUMBER),
            Span(f"{tensors:,}" if tensors else "", Style.NUMBER),
        ]
        cells += [] if later is None else [later.cell(i), later.largest(i)]
        node = context.graph.find(branch.name) if branch.is_node else None
        cells.append(Span("" if node is None else node.op_type, Style.OP))
        link = node_link(branch.name)
        if branch.is_scope:
            link = fold_command(command, branch.name, bool(shown.is_open))
        text = "  " * shown.depth + sign(shown.is_open) + branch.last
        return (*cells, Span(text, Style.NAME if branch.is_scope else Style.PLAIN, link))

    return Table(tuple(columns), len(rows), row, later=later)


def _counts(context: Context) -> bool:
    """Whether the front end shows cells as they are counted, and there are tensors to count."""
    return context.later and not isinstance(context.stop, RunStart)


def _data(tree: NameTree, shown: TreeRow) -> dict[str, Any]:
    name = shown.branch.name
    return {
        "name": name,
        "node": shown.branch.is_node,
        "scope": shown.branch.is_scope,
        "folded": None if shown.is_open is None else not shown.is_open,
        "nodes": tree.nodes(name) if shown.branch.is_scope else 1,
        "tensors": tree.tensors(name),
    }


COMMAND = Command(
    "tree",
    (),
    "The nodes by the scopes in their names, as a tree that folds.",
    _tree,
    (
        Argument(("scope",), "only what is in this scope", ArgumentKind.LAYER, nargs="?", default=""),
        *FOLD_ARGUMENTS,
    ),
    moments=frozenset(Moment) - {Moment.STEPPING},
    section="Graph",
    graph=True,
    steps=_in_steps,
    details="""\
A scope is one row until it is unfolded: how many nodes are in it, how many tensors were captured of them, and on the
screen what is NaN or infinite among these, and the largest magnitude. + is folded, - is not. What was folded stays so
at this prompt. `layers` has the scopes as the program made them, without functions, gradients and loops.

Examples:
  tree
  tree model/block_1
  tree --unfold model     from now on with what is in model
  tree --unfold model --levels 3
  tree --fold *           every scope one row again""",
)
