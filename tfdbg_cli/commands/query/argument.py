"""The argument by which a list takes a query, and what every list says of the one it was given."""

from __future__ import annotations

from tfdbg_cli.commands.registry import Argument
from tfdbg_cli.document.text import SHOW_ALL, Line, Span, Style, line
from tfdbg_cli.model.units import count_text

QUERY_ARGUMENT = Argument(
    ("-q", "--query"), "only rows that QUERY admits, such as 'dense nan>0'", metavar="QUERY", default=""
)


def unjudged_line(count: int) -> Line:
    """That of `count` rows nobody knows whether the query admits them."""
    why = "what the query asks for was not recorded, or cannot be read."
    return line(Span(f"{count_text(count, 'row')} could not be judged: {why}", Style.WARNING))


def query_line(text: str, shown: int, total: int | None, everything: str) -> Line:
    """How the query was understood, how many of how many rows it left (None: nobody counted), and the way back."""
    from tfdbg_cli.commands.query.language import written  # a first screen asks no query
    from tfdbg_cli.commands.query.parser import parse_query

    left = count_text(shown, "row") if total is None else f"{shown:,} of {total:,} rows"
    return line(
        Span(f"filter {written(parse_query(text))}: {left}", Style.DIM),
        "  ",
        Span(SHOW_ALL, Style.KEY, everything),
    )
