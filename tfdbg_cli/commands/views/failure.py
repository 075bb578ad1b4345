"""What a run failed with, in a line beside an answer of another kind."""

from __future__ import annotations

from tfdbg_cli.analysis.error_text import first_line
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.commands.views.links import node_link, source_link
from tfdbg_cli.commands.views.raised_at import raised_at
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.runs import Run

_MOST = 100  # characters of a message


def failure_lines(run: Run) -> list[Line]:
    """The error that ended the run, where it came from, and the command that tells all of it; none without one."""
    error = run.error
    if error is None:
        return []
    node = None if error.node is None else node_of(error.node)
    frame = (None if node is None else made_at(run.tracebacks, node)) or raised_at(run)
    spans: list[Span | str] = ["The run failed with ", Span(error.type_name, Style.ERROR)]
    if node is not None:
        spans += [" at ", Span(node, Style.NAME, node_link(node))]
    if frame is not None:
        place = f"{frame.file.rpartition('/')[2]}:{frame.line}"
        spans += [", ", Span(place, Style.LABEL, source_link(frame.file, frame.line))]
    said = first_line(error.message)
    spans += [f": {said[:_MOST]}{'…' if len(said) > _MOST else ''}"] * bool(said)
    return [line(*spans), line(Span("error_info", Style.KEY, "error_info"), " tells all of it.")]
