"""The title of a stop: which run, before or after it, and why it stopped."""

from __future__ import annotations

from tfdbg_cli.document.text import Line, Span, Style, line, printable
from tfdbg_cli.model.runs import RunEnd, RunStart, Stop


def stop_title(event: Stop) -> Line:
    """One line for `event`, styled by what it is; the words alone tell it too."""
    if isinstance(event, RunStart):
        return line(Span(f"run-start: {printable(event.call.title)}", Style.TITLE))
    if isinstance(event, RunEnd):
        return _run_end(event)
    count = len(event.runs)
    return line(Span(f"{printable(event.path)}: {count} run{'s' * (count != 1)}", Style.TITLE))


def _run_end(event: RunEnd) -> Line:
    title = Span(f"run-end: {printable(event.run.call.title)}", Style.TITLE)
    if event.run.error is not None:
        return line(title, Span(f" failed with {printable(event.run.error.type_name)}", Style.ERROR))
    if event.hit is not None:
        runs = f"{event.hit.runs} run{'s' * (event.hit.runs != 1)}"
        return line(title, Span(f" passed {printable(event.hit.filter_name)} after {runs}", Style.WARNING))
    return line(title)
