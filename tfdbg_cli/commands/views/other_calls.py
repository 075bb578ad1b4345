"""The runs of a recording that a view leaves out: of another worker or function, or with other fetches."""

from __future__ import annotations

from tfdbg_cli.commands.context import Context
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.runs import Opened
from tfdbg_cli.model.units import count_text


def of_other_calls(context: Context, followed: int, everything: str) -> list[Line]:
    """How many runs of a recording are not among those `followed`, and the command that follows `everything`.

    Empty where there are none, or `everything` is empty, since they are followed already.
    """
    others = len(context.runs) - followed
    if not everything or others < 1 or not isinstance(context.stop, Opened):
        return []
    kinds = "workers, functions or fetches" if context.run.call.worker else "functions or fetches"
    text = f"{count_text(others, 'run')} of other {kinds} left out: "
    return [line(Span(text, Style.DIM), Span(everything, Style.KEY, everything))]
