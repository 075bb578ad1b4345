"""`list_inputs` and `list_outputs`: the graph around a node as an outline in which every node stands once."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from tfdbg_cli.analysis.graph.walk import Direction, Hop, Mark, walk
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Argument, Command, Outcome
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import node_link
from tfdbg_cli.commands.views.nodes import DEVICE_ARGUMENT, NODE_ARGUMENT, find_node
from tfdbg_cli.commands.views.short_names import ShortNames, around
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.rows import Rows
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.document.units import count_text
from tfdbg_cli.errors import TfdbgError

_INDENT_LIMIT = 30  # levels shown as indentation; deeper ones are told by the number in front


def _list_inputs(context: Context, options: argparse.Namespace) -> Outcome:
    return _outline(context, options, Direction.INPUTS)


def _list_outputs(context: Context, options: argparse.Namespace) -> Outcome:
    return _outline(context, options, Direction.OUTPUTS)


def _outline(context: Context, options: argparse.Namespace, direction: Direction) -> Document:
    found = find_node(context, options.node_name, options.device)
    depth = _depth(context, options)
    steps = walk(found.graph, found.node, direction, depth=depth, control=options.control)
    name = found.node.name
    what = "Inputs" if direction is Direction.INPUTS else "Recipients"
    far = f", at most {count_text(depth, 'edge')} away" if options.recursive else ""
    control = ", control edges too" if options.control else ""
    head = [line(Span(f"{what} of node ", Style.TITLE), Span(name, Style.TITLE, node_link(name)))]
    head.append(line(Span(f"{count_text(_nodes(steps), 'node')}{far}{control}", Style.DIM)))
    if found.note:
        head.append(line(Span(found.note, Style.HINT)))
    names = around(found.graph, name)
    head += names.legend()
    blocks: list[Block] = [Text(tuple(head))]
    if steps:
        deeper = _command(direction, name, options, depth * 2)
        blocks.append(Rows(len(steps), lambda i: _line(steps[i], options.op_type, deeper, names)))
        blocks.append(Text((EMPTY_LINE, *_legend(steps, options))))
    else:
        blocks.append(Text((line("  none"),)))
    return Document("neighbours", tuple(blocks), lambda: _data(name, direction, depth, steps), f"{what} of {name}")


def _depth(context: Context, options: argparse.Namespace) -> int:
    """How far to go: one edge, or with -r as far as -d or the setting says."""
    if options.depth is not None and options.depth < 1:
        raise TfdbgError(f"-d counts edges from 1; {options.depth} is too few.")
    if not options.recursive:
        return 1
    depth: int = options.depth or max(1, context.settings.graph_recursion_depth)
    return depth


def _nodes(steps: Sequence[Hop]) -> int:
    return sum(step.mark in (Mark.FIRST, Mark.CUT) for step in steps)


def _command(direction: Direction, name: str, options: argparse.Namespace, depth: int) -> str:
    flags = [*(["-c"] if options.control else []), *(["-t"] if options.op_type else []), "-r", f"-d {depth}"]
    return f"{'li' if direction is Direction.INPUTS else 'lo'} {' '.join(flags)} {quoted(name)}"


def _line(step: Hop, with_op_type: bool, deeper: str, names: ShortNames) -> Line:
    level = min(step.depth, _INDENT_LIMIT)
    parts: list[Span | str] = ["  " * (level - 1), Span(f"({step.depth}) ", Style.DIM)]
    if step.control:
        parts.append(Span("(Ctrl) ", Style.DIM))
    if with_op_type and step.op_type:
        parts.append(Span(f"[{step.op_type}] ", Style.OP))
    name = names.short(step.name)
    if not step.op_type:
        return line(*parts, Span(name, Style.NAME), Span(" not in this graph", Style.DIM))
    if step.mark is Mark.ABOVE:
        return line(*parts, Span(f"↑ {name}", Style.DIM, node_link(step.name)))
    if step.mark is Mark.BELOW:
        return line(*parts, Span(f"↓ {name}", Style.DIM, node_link(step.name)))
    more = [Span(" …", Style.KEY, deeper)] if step.mark is Mark.CUT else []
    return line(*parts, Span(name, Style.NAME, node_link(step.name)), *more)


def _legend(steps: Sequence[Hop], options: argparse.Namespace) -> list[Line]:
    """What the signs mean that occur."""
    marks = {step.mark for step in steps}
    rows = [("(d)", "distance from the node, in edges")]
    if any(step.control for step in steps):
        rows.append(("(Ctrl)", "a control edge: waits for, reads nothing"))
    if options.op_type:
        rows.append(("[Op]", "op type"))
    if Mark.ABOVE in marks:
        rows.append(("↑", "shown above, or the node itself"))
    if Mark.BELOW in marks:
        rows.append(("↓", "shown below, where it is nearer to the node"))
    if Mark.CUT in marks:
        rows.append(("…", "goes on beyond the depth; -d N goes further"))
    return [line(Span("Legend:", Style.DIM))] + [line(Span(f"  {sign:<7}{text}", Style.DIM)) for sign, text in rows]


def _data(name: str, direction: Direction, depth: int, steps: Sequence[Hop]) -> dict[str, Any]:
    return {
        "name": name,
        "direction": direction.name.lower(),
        "max_depth": depth,
        "nodes": [
            {
                "depth": step.depth,
                "name": step.name,
                "op_type": step.op_type,
                "control": step.control,
                "repeated": step.mark in (Mark.ABOVE, Mark.BELOW),
                "cut": step.mark is Mark.CUT,
            }
            for step in steps
        ],
    }


_ARGUMENTS = (
    NODE_ARGUMENT,
    Argument(("-c", "--control"), "along control edges too", switch=True),
    Argument(
        ("-d", "--depth"), "with -r: at most N edges away (default: graph_recursion_depth)", metavar="N", type=int
    ),
    Argument(("-r", "--recursive"), "their neighbours too, and so on", switch=True),
    Argument(("-t", "--op_type"), "show op types", switch=True),
    DEVICE_ARGUMENT,
)
_DETAILS = """\
Every node stands once, where it is nearest to the node asked for; elsewhere ↑ or ↓ and its name point to it.

Examples:
  {alias} loss
  {alias} -r -c -t -d 3 loss"""

COMMANDS = (
    Command(
        "list_inputs",
        ("li",),
        "The nodes that a node reads from.",
        _list_inputs,
        _ARGUMENTS,
        details=_DETAILS.format(alias="li"),
        section="Graph",
    ),
    Command(
        "list_outputs",
        ("lo",),
        "The nodes that read from a node.",
        _list_outputs,
        _ARGUMENTS,
        details=_DETAILS.format(alias="lo"),
        section="Graph",
    ),
)
