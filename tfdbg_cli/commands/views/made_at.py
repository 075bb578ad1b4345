"""Where a node was made, with the lines of source around."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from tfdbg_cli.analysis.graph.nodes.annotation import made_at, traced_scope
from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.commands.views.links import place_span
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.excerpt import excerpt
from tfdbg_cli.document.labels import NO_LABEL, label_span
from tfdbg_cli.document.shrinking import Shrinking
from tfdbg_cli.document.text import Span, Style, line
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame, LostTracebacks, Traceback, user_frame

_ROWS_ASKED = 50


def made_at_blocks(run: Run, node: str, about: str = "", label: str = "Made at") -> tuple[Block, ...]:
    """`Made at   train.py:8 in <module>` and an excerpt; without the file, the line that the traceback kept.

    `about` is what to say behind the place, `label` what to say before it.
    """
    title = label_span(label)
    frame = made_at(run.tracebacks, node)
    if frame is None:
        why = (line(title, Span(why_no_traceback(run.tracebacks, run.call), Style.DIM)),)
        return (Text(why), *_called_at(run, node))
    behind = f" in {frame.function}{around_text(run.tracebacks, node)}{about}"
    source = run.sources.lines(frame.file)
    rows = excerpt(source, frame.line, indent=NO_LABEL) if source is not None else ()
    if not rows and frame.text.strip():
        rows = (line(NO_LABEL, frame.text.strip()),)
    return Shrinking(title, place_span(frame), Span(behind)), Text(tuple(rows))


def _called_at(run: Run, node: str) -> tuple[Block, ...]:
    """For a node of a called function the line of the program around which the call was made."""
    scopes = call_scopes(run.graph)
    for scope in scopes.around(node):
        frame = user_frame(run.tracebacks.get(scopes.caller(scope), ()))
        if frame is not None:
            label = label_span("Called at")
            return (Shrinking(label, place_span(frame), Span(f" in {frame.function}")),)
    return ()


def why_no_traceback(tracebacks: Mapping[str, Traceback], call: Call) -> str:
    """Why no line is known of a node that `call` ran."""
    if isinstance(tracebacks, LostTracebacks):
        return f"no source is known: {tracebacks.why}"
    if call.kind is RunKind.FUNCTION:
        made = "made by tfdbg or TensorFlow, or " if len(tracebacks) else ""
        return f"no source is known: {made}loaded from a SavedModel, which keeps none"
    return "the runtime made this node; it has no traceback" if len(tracebacks) else "no tracebacks are known"


def around_text(tracebacks: Mapping[str, Traceback], node: str) -> str:
    """What to say behind the place of a node that has no traceback of its own: which op around it was made there."""
    scope = traced_scope(tracebacks, node)
    return f", with {scope} around it" if scope is not None and scope != node else ""


def lines_lost(rows: Iterable[tuple[Mapping[str, Traceback], Frame | None]]) -> str:
    """Why some of the first `rows` have no line, each with the tracebacks of its run; empty where nothing is lost."""
    for tracebacks, frame in islice(rows, _ROWS_ASKED):
        if frame is None and isinstance(tracebacks, LostTracebacks):
            return f"Lines of the program are not known: {tracebacks.why}."
    return ""
