"""`list_inputs` and `list_outputs`: the graph around a node as an outline in which every node stands once."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from tfdbg_cli.analysis.choosing.known_figures import Known, added
from tfdbg_cli.analysis.graph.ways.walk import Direction, Hop, StepMark, walk
from tfdbg_cli.analysis.layers.layers import layers_of, scope_text
from tfdbg_cli.commands.asked.arguments import DEVICE_ARGUMENT, NODE_ARGUMENT
from tfdbg_cli.commands.asked.node_choice import FoundNode, find_node
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.named import asked_query
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import Argument, Command, Outcome, Steps
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import node_link
from tfdbg_cli.commands.views.lists.node_values import NodeValues
from tfdbg_cli.commands.views.short_names import ShortNames, around
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.rows import Rows
from tfdbg_cli.document.shrinking import shrunk
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import short_device
from tfdbg_cli.model.runs import RunStart
from tfdbg_cli.model.tensors import EMPTY_STORE
from tfdbg_cli.model.units import count_text

_INDENT_LIMIT = 30  # levels shown as indentation; deeper ones are told by the number in front


def _list_inputs(context: Context, options: argparse.Namespace) -> Outcome:
    return _outline(context, options, Direction.INPUTS)


def _list_outputs(context: Context, options: argparse.Namespace) -> Outcome:
    return _outline(context, options, Direction.OUTPUTS)


def _outline(context: Context, options: argparse.Namespace, direction: Direction) -> Document:
    found = find_node(context, options.node_name, options.device)
    depth = _depth(context, options)
    every = _walked(context, options, found, direction)
    left = _facts(context).left(options.query, _listed(every, options), _spelled(direction, options))
    steps = left.rows
    name = found.node.name
    what = "Inputs" if direction is Direction.INPUTS else "Recipients"
    far = f", at most {count_text(depth, 'edge')} away" if options.recursive else ""
    control = ", control edges too" if options.control else ""
    head = [line(Span(f"{what} of node ", Style.TITLE), Span(name, Style.TITLE, node_link(name)))]
    head.append(line(Span(f"{count_text(_nodes(every), 'node')}{far}{control}", Style.DIM)))
    if found.note:
        head.append(line(Span(found.note, Style.HINT)))
    head += left.head
    names = around(found.graph, name)
    head += names.legend()
    blocks: list[Block] = [Text(tuple(head))]
    if steps:
        deeper = _command(direction, name, options, depth * 2)
        held = NodeValues(context, [step.name for step in steps])
        blocks.append(
            Rows(len(steps), lambda i: _line(steps[i], options, deeper, names, held.spans(i)), held.later, _fitted)
        )
        blocks.append(Text((EMPTY_LINE, *_legend(steps, options))))
    else:
        blocks.append(Text((line("  none"),)))
    data = _data(name, direction, depth, steps)
    return Document("neighbours", tuple(blocks), lambda: {**data, **left.data}, left.title(f"{what} of {name}"))


def _walked(context: Context, options: argparse.Namespace, found: FoundNode, direction: Direction) -> Sequence[Hop]:
    """The walk; that shown last where a query is asked of it, for one that is typed asks with each key."""
    depth, kind = _depth(context, options), found.graph.kind
    key = context.current, kind, found.node.name, found.node.device, direction, depth, options.control
    known = context.memory.walked
    if not options.query or known is None or known[0] != key:
        hops = walk(found.graph, found.node, direction, depth=depth, control=options.control)
        context.memory.walked = known = key, hops
    return known[1]


def _listed(steps: Sequence[Hop], options: argparse.Namespace) -> Sequence[Hop]:
    """The rows of the outline; those that a query is asked of leave out what only points to another row."""
    if not options.query:
        return steps
    return [step for step in steps if step.mark in (StepMark.FIRST, StepMark.CUT)]


def _spelled(direction: Direction, options: argparse.Namespace) -> str:
    command = COMMANDS[0] if direction is Direction.INPUTS else COMMANDS[1]
    return command.spell(options, query="")


def _facts(context: Context) -> PlainRows[Hop]:
    """What a query can ask of a node in the outline, its tensors taken together."""
    store = EMPTY_STORE if isinstance(context.stop, RunStart) else context.run.tensors
    layers = layers_of(context.graph)

    def counted(name: str) -> Callable[[Hop], Known]:
        return lambda step: added(context.count(index, name) for index in store.named(step.name))

    return PlainRows(
        "a node",
        lambda step: step.name,
        {
            "op": lambda step: step.op_type,
            "device": lambda step: short_device(step.device),
            "layer": lambda step: scope_text(layers.layer(step.name)),
        },
        {"tensors": lambda step: len(store.named(step.name))},
        {name: counted(name) for name in ("nan", "inf", "bad", "zero")},
    )


def _in_steps(direction: Direction) -> Steps:
    """Counts what a query asks of the nodes, a little at a time."""

    def steps(context: Context, options: argparse.Namespace) -> Iterator[float | None]:
        if not options.query or isinstance(context.stop, RunStart):
            return
        found = find_node(context, options.node_name, options.device)
        every = _walked(context, options, found, direction)
        yield None
        for step in _facts(context).undecided(asked_query(options.query), _listed(every, options)):
            for _ in context.summaries_in_steps(context.run.tensors.named(step.name)):
                yield None
            yield None

    return steps


def _depth(context: Context, options: argparse.Namespace) -> int:
    """How far to go: one edge, or with -r as far as -d or the setting says."""
    if options.depth is not None and options.depth < 1:
        raise TfdbgError(f"-d counts edges from 1; {options.depth} is too few.")
    if not options.recursive:
        return 1
    depth: int = options.depth or max(1, context.settings.graph_recursion_depth)
    return depth


def _nodes(steps: Sequence[Hop]) -> int:
    return sum(step.mark in (StepMark.FIRST, StepMark.CUT) for step in steps)


def _command(direction: Direction, name: str, options: argparse.Namespace, depth: int) -> str:
    flags = [*(["-c"] if options.control else []), *(["-t"] if options.op_type else []), "-r", f"-d {depth}"]
    flags += [f"-q {quoted(options.query)}"] if options.query else []
    return f"{'li' if direction is Direction.INPUTS else 'lo'} {' '.join(flags)} {quoted(name)}"


def _line(step: Hop, options: argparse.Namespace, deeper: str, names: ShortNames, held: Sequence[Span | str]) -> Line:
    level = 1 if options.query else min(step.depth, _INDENT_LIMIT)  # what is between may be left out
    parts: list[Span | str] = ["  " * (level - 1), Span(f"({step.depth}) ", Style.DIM)]
    if step.control:
        parts.append(Span("(Ctrl) ", Style.DIM))
    if options.op_type and step.op_type:
        parts.append(Span(f"[{step.op_type}] ", Style.OP))
    name = names.short(step.name)
    if not step.op_type:
        return line(*parts, Span(name, Style.NAME), Span(" not in this graph", Style.DIM))
    if step.mark is StepMark.ABOVE:
        return line(*parts, Span("↑ ", Style.DIM), Span(name, Style.DIM, node_link(step.name)))
    if step.mark is StepMark.BELOW:
        return line(*parts, Span("↓ ", Style.DIM), Span(name, Style.DIM, node_link(step.name)))
    more = [Span(" …", Style.KEY, deeper)] if step.mark is StepMark.CUT else []
    return line(*parts, Span(name, Style.NAME, node_link(step.name)), *more, *held)


def _fitted(row: Line, width: int) -> Line:
    """`row` with the end of its name, where that is too long for all that stands behind it."""
    return replace(row, spans=shrunk(row.spans, width, lambda span: span.style is Style.NAME or bool(span.link)))


def _legend(steps: Sequence[Hop], options: argparse.Namespace) -> list[Line]:
    """What the signs mean that occur."""
    marks = {step.mark for step in steps}
    rows = [("(d)", "distance from the node, in edges")]
    if any(step.control for step in steps):
        rows.append(("(Ctrl)", "a control edge: waits for, reads nothing"))
    if options.op_type:
        rows.append(("[Op]", "op type"))
    if StepMark.ABOVE in marks:
        rows.append(("↑", "shown above, or the node itself"))
    if StepMark.BELOW in marks:
        rows.append(("↓", "shown below, where it is nearer to the node"))
    if StepMark.CUT in marks:
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
                "repeated": step.mark in (StepMark.ABOVE, StepMark.BELOW),
                "cut": step.mark is StepMark.CUT,
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
    QUERY_ARGUMENT,
    DEVICE_ARGUMENT,
)
_DETAILS = """\
Every node stands once, where it is nearest to the node asked for; elsewhere ↑ or ↓ and its name point to it. Behind
it stands what it gave; the screen counts NaN and infinities, too, as rows come into sight.

Examples:
  {alias} loss
  {alias} -r -c -t -d 3 loss
  {alias} -r -q 'nan>0' loss     those that hold NaN; a query leaves out ↑ and ↓"""

COMMANDS = (
    Command(
        "list_inputs",
        ("li",),
        "The nodes that a node reads from.",
        _list_inputs,
        _ARGUMENTS,
        steps=_in_steps(Direction.INPUTS),
        details=_DETAILS.format(alias="li"),
        section="Graph",
        graph=True,
    ),
    Command(
        "list_outputs",
        ("lo",),
        "The nodes that read from a node.",
        _list_outputs,
        _ARGUMENTS,
        steps=_in_steps(Direction.OUTPUTS),
        details=_DETAILS.format(alias="lo"),
        section="Graph",
        graph=True,
    ),
)
