"""Python source in colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from tfdbg_cli.document.text import Line, Span, Style

# By the names of the tokens of pygments.
_STYLES = (
    ("Comment", Style.COMMENT),
    ("Keyword", Style.KEYWORD),
    ("Operator.Word", Style.KEYWORD),
    ("Literal.String", Style.STRING),
    ("Literal.Number", Style.NUMBER),
    ("Name.Function", Style.DEFINITION),
    ("Name.Class", Style.DEFINITION),
    ("Name.Decorator", Style.DEFINITION),
)


def highlighted(lines: Sequence[str]) -> tuple[Line, ...]:
    """`lines` of a Python file in the styles of source code, one Line each, tabs widened.

    A file is lexed once, as a whole: a line alone does not tell that it lies inside a string. All is plain where
    pygments cannot be loaded, as in a program that has emptied `sys.path`.
    """
    return _lexed("\n".join(lines))[: len(lines)]


@lru_cache(maxsize=32)
def _lexed(text: str) -> tuple[Line, ...]:
    found: list[Line] = []
    spans: list[Span] = []
    # A tab widens by its column, so before the text is cut into tokens.
    for style, value in _tokens(_widened(text)):
        for i, piece in enumerate(value.split("\n")):
            if i:
                found.append(Line(tuple(spans)))
                spans = []
            if piece:
                _add(spans, Span(piece, style))
    found.append(Line(tuple(spans)))
    return tuple(found)


def _tokens(text: str) -> Iterator[tuple[Style, str]]:
    """The pieces of `text` with their styles."""
    try:
        from pygments.lexers.python import PythonLexer
    except ImportError:
        return iter([(Style.PLAIN, text)])
    return ((_style(token), value) for token, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text))


def _widened(text: str) -> str:
    # pygments takes a carriage return for a line end, which would shift every line after it.
    return "\n".join(row.expandtabs(4).replace("\r", "\\r") for row in text.split("\n"))


@cache
def _style(token: Any) -> Style:
    """The style of a token of pygments, a tuple of the names that lead to it."""
    name = f"{'.'.join(token)}."
    return next((style for kind, style in _STYLES if name.startswith(f"{kind}.")), Style.PLAIN)


def _add(spans: list[Span], span: Span) -> None:
    if spans and spans[-1].style is span.style:
        span = Span(spans.pop().text + span.text, span.style)
    spans.append(span)
