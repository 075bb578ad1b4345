"""`node_info`: one node, what it reads, who reads it, where it was made."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfdbg_cli.analysis.graph.flow.branches import Taken, taken_branches
from tfdbg_cli.analysis.graph.flow.last_update import made_by
from tfdbg_cli.analysis.graph.making.forward import forward_of
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.analysis.graph.nodes.neighbours import Edge, neighbours_of
from tfdbg_cli.commands.asked.arguments import DEVICE_ARGUMENT, NODE_ARGUMENT
from tfdbg_cli.commands.asked.node_choice import FoundNode, find_node
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Argument, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import node_link, place_span, tensor_link
from tfdbg_cli.commands.views.made_at import around_text, why_no_traceback
from tfdbg_cli.commands.views.short_names import ShortNames, around
from tfdbg_cli.commands.views.taken_branch import taken_line
from tfdbg_cli.commands.views.traceback_lines import traceback_data, traceback_lines
from tfdbg_cli.document.definitions import Definitions
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.runs import Run, RunStart
from tfdbg_cli.model.sources import LostTracebacks, Traceback
from tfdbg_cli.model.tensors import EMPTY_STORE, TensorStore
from tfdbg_cli.model.units import bytes_text, count_text, ms_text, shape_text


def _node_info(context: Context, options: argparse.Namespace) -> Document:
    found = find_node(context, options.node_name, options.device)
    node = found.node
    traceback = context.tracebacks.get(made_by(found.graph, node.name), ())
    blocks: list[Block] = [Text(_head(context, found, options)), *_neighbours(context, found)]
    if options.attributes:
        blocks += _attributes(node)
    if options.dumps:
        blocks += _dumps(_store(context), node, _why_none(context, node))
    if options.traceback:
        blocks.append(Text(tuple(_traceback(context, node, traceback, options.all))))
    blocks.append(Text((EMPTY_LINE, _more(node, options))))
    return Document("node", tuple(blocks), lambda: _data(context, found, traceback), f"node {node.name}")


def _store(context: Context) -> TensorStore:
    return EMPTY_STORE if isinstance(context.stop, RunStart) else context.run.tensors


def _head(context: Context, found: FoundNode, options: argparse.Namespace) -> tuple[Line, ...]:
    node = found.node
    lines = [
        line(Span(node.name, Style.TITLE)),
        line(Span("Op type  ", Style.LABEL), Span(node.op_type, Style.OP)),
        line(Span("Device   ", Style.LABEL), Span(_device(context, node), Style.DEVICE)),
        *_calls(found),
    ]
    taken = taken_branches(found.graph, _store(context), node)
    if taken is not None:
        lines.append(taken_line(taken, _store(context)))
    lines += _places(context, found, options)
    if found.note:
        lines.append(line(Span(found.note, Style.HINT)))
    return (*lines, *around(found.graph, node.name).legend())


def _places(context: Context, found: FoundNode, options: argparse.Namespace) -> Iterator[Line]:
    """Where the node was made, unless its whole traceback is shown, and the op of which it computes the gradient."""
    name, tracebacks = found.node.name, context.tracebacks
    frame, forward = made_at(tracebacks, made_by(found.graph, name)), _forward(context, found)
    theirs = None if forward is None else made_at(tracebacks, forward.name)
    about = "" if forward is None else f": {around(found.graph, name).short(forward.name)}, whose gradient this is"
    together = frame == theirs and not options.traceback
    if frame is not None and not options.traceback:
        behind = f" in {frame.function}{around_text(tracebacks, name)}{about if together else ''}"
        yield line(Span("Made at  ", Style.LABEL), place_span(frame), behind)
    if theirs is not None and not together:
        yield line(Span("Forward  ", Style.LABEL), place_span(theirs), f" in {theirs.function}{about}")


def _forward(context: Context, found: FoundNode) -> Node | None:
    """The op of the program whose gradient the node computes."""
    stop = context.stop
    run = Run(stop.call, graph=stop.graph) if isinstance(stop, RunStart) else context.run
    return forward_of(found.graph, Lineage(run), found.node)


def _device(context: Context, node: Node) -> str:
    """Where the node ran: as its graph says, else where its value lies."""
    if node.device:
        return node.device
    if isinstance(context.stop, RunStart):
        return "not placed yet"
    return _lies_at(context, node) or "not recorded"


def _lies_at(context: Context, node: Node) -> str:
    """The device of what the node gave; empty where nothing of it was captured."""
    store = _store(context)
    held = store.named(node.name)
    return store[held[0]].device if held else ""


def _calls(found: FoundNode) -> list[Line]:
    """The calls that the node runs in, innermost first, each leading to the node that calls."""
    scopes = call_scopes(found.graph)
    lines: list[Line] = []
    for scope in scopes.around(found.node.name):
        caller = scopes.caller(scope)
        label = "In       " if not lines else " " * 9
        by = Span(caller, Style.NAME, node_link(caller))
        lines.append(line(Span(label, Style.LABEL), f"{scope}, called by ", by))
    return lines


def _neighbours(context: Context, found: FoundNode) -> list[Block]:
    edges = neighbours_of(found.graph)
    node, store = found.node, _store(context)
    inputs, outputs = edges.inputs(node), edges.outputs(node)
    waits, waited = edges.control_inputs(node), edges.control_outputs(node)
    names, taken = around(found.graph, node.name), taken_branches(found.graph, store, node)
    sections: tuple[tuple[str, int, int, Callable[[int], Row]], ...] = (
        ("input", len(inputs), 5, lambda i: _input_row(store, inputs[i], names, taken)),
        ("recipient", len(outputs), 5, lambda i: _output_row(outputs[i], names)),
        ("control input", len(waits), 3, lambda i: _name_row(waits[i], found.graph.find(waits[i]), names)),
        ("control recipient", len(waited), 3, lambda i: _name_row(waited[i].name, waited[i], names)),
    )
    blocks = [block for section in sections if section[1] for block in _section(*section)]
    absent = [f"{noun}s" for noun, count, *_ in sections if not count]
    if absent:
        blocks.append(Text((EMPTY_LINE, line(Span(f"No {', no '.join(absent)}.", Style.DIM)))))
    return blocks


_PLAIN = Column("")  # these tables have no heads; an empty first column indents them
_COLUMNS = (
    _PLAIN,
    _PLAIN,
    Column("", keep_end=True, least=20),
    _PLAIN,
    _PLAIN,
)  # op type, name, value or slot, device


def _section(noun: str, count: int, columns: int, row: Callable[[int], Row]) -> list[Block]:
    """A heading with the count, then one row each."""
    heading = Text((EMPTY_LINE, line(Span(count_text(count, noun), Style.HEADING))))
    return [heading, Table(_COLUMNS[:columns], count, row, show_head=False)]


def _input_row(store: TensorStore, edge: Edge, names: ShortNames, taken: Taken | None) -> Row:
    op_type = edge.node.op_type if edge.node is not None else "not in this graph"
    moved = Span("through send and receive", Style.DIM) if edge.moved else Span("")
    link = node_link(edge.tensor.node) if edge.node else ""
    name = Span(names.short(str(edge.tensor)), Style.NAME, link)
    left_out = taken is not None and taken.left_out(edge.tensor)
    value = Span("not run", Style.DIM) if left_out else _value_span(store, edge)
    return (Span(""), Span(f"[{op_type}]", Style.OP), name, value, moved)


def _output_row(edge: Edge, names: ShortNames) -> Row:
    assert edge.node is not None
    name = Span(names.short(edge.node.name), Style.NAME, node_link(edge.node.name))
    slot = Span(f"reads :{edge.tensor.slot}", Style.DIM)
    device = Span(f"on {edge.node.device}" if edge.moved else "", Style.DEVICE)
    return (Span(""), Span(f"[{edge.node.op_type}]", Style.OP), name, slot, device)


def _name_row(name: str, node: Node | None, names: ShortNames) -> Row:
    op_type = node.op_type if node is not None else "not in this graph"
    link = node_link(name) if node is not None else ""
    return (Span(""), Span(f"[{op_type}]", Style.OP), Span(names.short(name), Style.NAME, link))


def _value_span(store: TensorStore, edge: Edge) -> Span:
    """Dtype and shape of the tensor that flowed, a link to its value; only its description is read."""
    found = store.named(edge.tensor.node, edge.tensor.slot)
    if not found:
        return Span("not captured" if len(store) else "", Style.DIM)
    tensor = store[found[0]]
    link = tensor_link(store, found[0]) if len(found) == 1 else f"pt {quoted(str(edge.tensor))}"
    return Span(f"{tensor.dtype}{shape_text(tensor.shape)}", Style.NUMBER, link)


def _attributes(node: Node) -> list[Block]:
    heading = Text((EMPTY_LINE, line(Span(count_text(len(node.attributes), "attribute"), Style.HEADING))))
    pairs = tuple((Span(name, Style.LABEL), Span(text or "''")) for name, text in sorted(node.attributes.items()))
    return [heading, Definitions(pairs, indent="  ")] if pairs else [heading]


def _dumps(store: TensorStore, node: Node, why_none: str) -> list[Block]:
    """Every captured output, by slot. `-n` counts within one slot on one device, as `pt` does."""
    device = node.whole_device
    found = [i for i in store.named(node.name) if device is None or store[i].device in ("", device)]
    found.sort(key=lambda i: (store[i].slot, i))
    heading = Text((EMPTY_LINE, line(Span(count_text(len(found), "captured tensor"), Style.HEADING))))
    if not found:
        return [heading, Text((line("  ", Span(why_none, Style.HINT)),))]
    columns = (*(_PLAIN,) * 3, Column("", right=True), *(_PLAIN,) * 3)
    start = store[0].time_us

    def row(i: int) -> Row:
        tensor = store[found[i]]
        passed = None if tensor.time_us is None or start is None else tensor.time_us - start
        return (
            Span(""),
            Span(f"slot {tensor.slot}", Style.NAME, tensor_link(store, found[i])),
            Span(f"execution {tensor.execution}"),
            Span(f"@ {ms_text(passed)} ms" if passed is not None else "", Style.NUMBER),
            Span(tensor.dtype),
            Span(shape_text(tensor.shape)),
            Span(bytes_text(tensor.nbytes)),
        )

    return [heading, Table(columns, len(found), row, show_head=False)]


def _why_none(context: Context, node: Node) -> str:
    """Why nothing may have been captured of `node`."""
    if isinstance(context.stop, RunStart) and not context.runs:
        return "The run has not been made yet."
    error = None if isinstance(context.stop, RunStart) else context.run.error
    if error is not None and error.node is not None and node_of(error.node) == node.name:
        return "This is the op that failed: it gave nothing."
    return "Folded by the optimizer, left out by a filter of the run, or not needed for its fetches."


def _traceback(context: Context, node: Node, traceback: Traceback, unfold: bool) -> Sequence[Line]:
    heading = line(Span("Made by", Style.HEADING))
    if not traceback:
        why = "No traceback is known: the runtime made this node, or the recording keeps none."
        if context.call.kind is RunKind.FUNCTION or isinstance(context.tracebacks, LostTracebacks):
            why = f"{why_no_traceback(context.tracebacks, context.call)}."
        return [EMPTY_LINE, heading, line("  ", Span(why, Style.HINT))]
    link = f"ni -t --all {quoted(node.name)}"
    return [EMPTY_LINE, heading, *traceback_lines(traceback, unfold=unfold, unfold_link=link)]


def _more(node: Node, options: argparse.Namespace) -> Line:
    name = quoted(node.name)
    offers = [
        ("attributes", f"ni -a -d -t {name}", not options.attributes),
        ("captured tensors", f"ni -d {name}", not options.dumps),
        ("traceback", f"ni -t {name}", not options.traceback),
        ("all inputs", f"li -r {name}", True),
        ("all recipients", f"lo -r {name}", True),
    ]
    parts: list[Span | str] = [Span("See: ", Style.LABEL)]
    for text, link, wanted in offers:
        if wanted:
            parts += [", " if len(parts) > 1 else "", Span(text, Style.KEY, link)]
    return line(*[part for part in parts if part != ""])


def _data(context: Context, found: FoundNode, traceback: Traceback) -> dict[str, Any]:
    edges = neighbours_of(found.graph)
    node, store = found.node, _store(context)
    taken = taken_branches(found.graph, store, node)
    return {
        "name": node.name,
        "op_type": node.op_type,
        "device": node.device or _lies_at(context, node),
        "graph": str(found.graph.kind),
        "inputs": [str(edge.tensor) for edge in edges.inputs(node)],
        "control_inputs": edges.control_inputs(node),
        "outputs": list(dict.fromkeys(edge.node.name for edge in edges.outputs(node) if edge.node is not None)),
        "control_outputs": [other.name for other in edges.control_outputs(node)],
        "attributes": dict(node.attributes),
        "dumps": [{"slot": store[i].slot, "execution": store[i].execution} for i in store.named(node.name)],
        "traceback": traceback_data(traceback),
        "forward": None if (forward := _forward(context, found)) is None else forward.name,
        "note": found.note,
        **({} if taken is None else {"taken": dict(taken.times), "chosen_by": str(taken.chooser)}),
    }


COMMAND = Command(
    "node_info",
    ("ni",),
    "One node: its op type, device, inputs and recipients.",
    _node_info,
    (
        NODE_ARGUMENT,
        Argument(("-a", "--attributes"), "also its attributes", switch=True),
        Argument(("-d", "--dumps"), "also its captured tensors", switch=True),
        Argument(("-t", "--traceback"), "also the calls that made it, those of libraries folded", switch=True),
        Argument(("--all",), "with -t: the frames of libraries too", switch=True),
        DEVICE_ARGUMENT,
    ),
    details="""\
Sends and receives between devices, and the runtime's return nodes, are seen through. Of a condition it says which
branch was taken, and what chose it; in a loop how often each. Of one that computes a gradient it names the op of the
forward pass, with its line. TensorFlow makes the ops of a gradient that a tape outside of a function asks for when
that function is first called under a tape: those whose op is known are said to be made where it was.

Examples:
  ni dense/MatMul
  ni -a -d -t loss:0""",
    section="Graph",
    graph=True,
)
