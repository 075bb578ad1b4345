"""The runs that a view leaves out: of another worker or function, with other fetches, or not of the program."""

from __future__ import annotations

from tfdbg_cli.commands.context import Context
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.runs import Opened
from tfdbg_cli.model.units import count_text


def of_other_calls(context: Context, followed: int, everything: str) -> list[Line]:
    """How many runs of a recording are not among those `followed`, and the command that follows `everything`.

    Empty where there are none, or `everything` is empty, since they are followed already. Those that were made with
    other values do not count: no command follows them.
    """
    others = len(context.runs) - context.made_count - followed
    if not everything or others < 1 or not isinstance(context.stop, Opened):
        return []
    kinds = "workers, functions or fetches" if context.run.call.worker else "functions or fetches"
    text = f"{count_text(others, 'run')} of other {kinds} left out: "
    return [line(Span(text, Style.DIM), Span(everything, Style.KEY, everything))]


def made_left_out(context: Context) -> list[Line]:
    """That runs which were made with other values are left out, where there are any; the one looked at may be one."""
    if not context.made_count:
        return []
    looked_at = ", that on show among them" if context.asks_what_if else ""
    text = f"{count_text(context.made_count, 'run')} with values of your own (`again`) left out{looked_at}."
    return [line(Span(text, Style.HINT))]
