"""`error_info`: the error of a run, on one screen: what failed, where it was made, what it was given."""

from __future__ import annotations

import argparse
from typing import Any

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.refused_rows import refused_rows
from tfdbg_cli.analysis.error_text import essence, without_library_calls
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.commands.asked.current_frame import asks_python
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import WITH_TENSORS, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.input_rows import input_data, input_rows
from tfdbg_cli.commands.views.links import node_link
from tfdbg_cli.commands.views.made_at import made_at_blocks
from tfdbg_cli.commands.views.origin.batch import batch_lines
from tfdbg_cli.commands.views.raised_at import raised_at, raised_blocks
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.labels import NO_LABEL, label_span
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.document.wrapping import Labelled
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.runs import Run, RunEnd
from tfdbg_cli.model.units import count_text

_GETS_IT = "On leaving, the program gets this error as without tfdbg."
_GOT_IT = "The program got this error as without tfdbg."
_CAUGHT = "The program has caught this error."
_MADE_AGAIN = "This run was made with other values; the program never sees it."
_MOST_MESSAGE_LINES = 40


def _error_info(context: Context, options: argparse.Namespace) -> Document:
    run = context.run
    error = run.error
    if error is None:
        raise TfdbgError("This run ended without an error.", hint="`lt` lists its tensors, `origin` looks for NaN.")
    node = _failed_node(run, error)
    inputs = Lineage(run).inputs_of_node(node) if node is not None else []
    blocks: list[Block] = [Text((_head(error),)), *_message(error.message)]
    blocks += [Labelled("From" if not at else "", cause) for at, cause in enumerate(error.causes)]
    blocks += _failed(run, error, node)
    if inputs:
        blocks += [Text((EMPTY_LINE,)), input_rows(run, inputs, "Given")]
    if error.inputs_note:
        blocks.append(Labelled("" if inputs else "Given", error.inputs_note, Style.HINT))
    batch = refused_rows(run)
    if batch.rows:
        blocks.append(Text(tuple(batch_lines(run, batch))))
    blocks.append(Text((EMPTY_LINE, *_more(context, node, bool(batch.rows)))))
    return Document("error", tuple(blocks), lambda: _data(run, error, node, inputs, batch), error.type_name)


def _failed_node(run: Run, error: RunError) -> Node | None:
    """The node that failed, in the run's graph or in the program's, where its inputs are the same."""
    if error.node is None:
        return None
    name = node_of(error.node)
    graphs = [run.graph, *([run.python_graph] if run.python_graph is not None else [])]
    return next((found for graph in graphs if (found := graph.find(name)) is not None), None)


def _head(error: RunError) -> Line:
    return line(label_span("Error"), Span(error.type_name, Style.ERROR))


def _message(message: str) -> list[Block]:
    """What the op said, wrapped. Line ends are kept, other control characters made visible.

    The stack that TensorFlow puts into the message is said better below.
    """
    rows = without_library_calls([row.rstrip() for row in essence(message).split("\n")])
    shown = "\n".join(rows[:_MOST_MESSAGE_LINES])
    blocks: list[Block] = [Labelled("Message", shown)]
    left = len(rows) - _MOST_MESSAGE_LINES
    if left > 0:
        more = f"… {count_text(left, 'line')} more of it: `--json` has them all"
        blocks.append(Text((line(NO_LABEL, Span(more, Style.DIM)),)))
    return blocks


def _failed(run: Run, error: RunError, node: Node | None) -> list[Block]:
    if error.node is None and run.frames:
        return raised_blocks(run)
    if error.node is None:
        return [Labelled("Failed", "TensorFlow does not say which op.", Style.DIM)]
    label = label_span("Failed")
    name = error.node
    if node is None:
        head = line(label, Span(name, Style.NAME), Span("  not in the graphs at hand", Style.DIM))
        return [Text((head,)), *raised_blocks(run)]
    head = line(
        label, Span(name, Style.TITLE, node_link(node.name)), "  ", Span(node.op_type, Style.OP), "  ",
        Span(node.device, Style.DEVICE),
    )  # fmt: skip
    return [Text((head, EMPTY_LINE)), *made_at_blocks(run, node.name)]


def _more(context: Context, node: Node | None, row: bool) -> list[Line]:
    python, values = asks_python(context), bool(len(context.run.tensors))
    offers = ["row"] * row + ["frames", "locals"] * python + ["lt"] * values + ["run_info"]
    if node is not None:
        offers = [f"li -r {quoted(node.name)}", f"ni -a -d -t {quoted(node.name)}", *offers]
    parts: list[Span | str] = [label_span("Look at")]
    for i, offer in enumerate(offers):
        parts += [*([", "] if i else []), Span(offer, Style.KEY, offer)]
    return [line(*parts), line(label_span("Next"), _next(context))]


def _next(context: Context) -> str:
    """What becomes of the error: the program waits for it only at the end of the run that it stopped behind."""
    stop, run = context.stop, context.run
    if context.asks_what_if:
        return _MADE_AGAIN
    if run.error is not None and run.error.caught:
        return _CAUGHT
    waits = isinstance(stop, RunEnd) and run is stop.run and not stop.sent
    return _GETS_IT if waits else _GOT_IT


def _data(run: Run, error: RunError, node: Node | None, inputs: list[InputSeen], batch: BatchRows) -> dict[str, Any]:
    frame = made_at(run.tracebacks, node.name) if node is not None else raised_at(run)
    return {
        "type": error.type_name,
        "message": error.message,
        "node": error.node,
        "op_type": node.op_type if node else None,
        "device": node.device if node else None,
        "file": frame.file if frame else None,
        "line": frame.line if frame else None,
        "inputs": [input_data(item) for item in inputs],
        "note": error.inputs_note,
        "causes": list(error.causes),
        "batch_rows": list(batch.rows),
    }


COMMAND = Command(
    "error_info",
    ("ei",),
    "The error of this run: what failed, where it was made, what it was given.",
    _error_info,
    moments=WITH_TENSORS,
)
