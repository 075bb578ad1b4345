"""Where an exception of the program's Python came from, with the lines of source around."""

from __future__ import annotations

from tfdbg_cli.commands.views.links import place_span
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.excerpt import excerpt
from tfdbg_cli.document.labels import NO_LABEL, label_span
from tfdbg_cli.document.shrinking import Shrinking
from tfdbg_cli.document.text import Span
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame, is_library


def raised_at(run: Run) -> Frame | None:
    """The innermost line of the program among the Python of `run`; None where there is none."""
    own = [frame.place for frame in run.frames if not is_library(frame.place.file)]
    return own[-1] if own else None


def raised_blocks(run: Run) -> list[Block]:
    """`Raised    train.py:8 in <module>` and an excerpt; nothing where no line of the program is known."""
    frame = raised_at(run)
    if frame is None:
        return []
    source = run.sources.lines(frame.file) or ()
    head = Shrinking(label_span("Raised"), place_span(frame), Span(f" in {frame.function}"))
    return [head, Text(tuple(excerpt(source, frame.line, indent=NO_LABEL)))]
