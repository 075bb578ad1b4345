"""Python source in colours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType, is_token_subtype

from tfdbg_cli.document.text import Line, Span, Style

_STYLES: tuple[tuple[_TokenType, Style], ...] = (
    (Comment, Style.COMMENT),
    (Keyword, Style.KEYWORD),
    (Operator.Word, Style.KEYWORD),
    (String, Style.STRING),
    (Number, Style.NUMBER),
    (Name.Function, Style.DEFINITION),
    (Name.Class, Style.DEFINITION),
    (Name.Decorator, Style.DEFINITION),
)


def highlighted(lines: Sequence[str]) -> tuple[Line, ...]:
    """`lines` of a Python file in the styles of source code, one Line each, tabs widened.

    A file is lexed once, as a whole: a line alone does not tell that it lies inside a string.
    """
    return _lexed("\n".join(lines))[: len(lines)]


@lru_cache(maxsize=32)
def _lexed(text: str) -> tuple[Line, ...]:
    found: list[Line] = []
    spans: list[Span] = []
    # A tab widens by its column, so before the text is cut into tokens.
    for token, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(_widened(text)):
        style = _style(token)
        for i, piece in enumerate(value.split("\n")):
            if i:
                found.append(Line(tuple(spans)))
                spans = []
            if piece:
                _add(spans, Span(piece, style))
    found.append(Line(tuple(spans)))
    return tuple(found)


def _widened(text: str) -> str:
    # pygments takes a carriage return for a line end, which would shift every line after it.
    return "\n".join(row.expandtabs(4).replace("\r", "\\r") for row in text.split("\n"))


def _style(token: _TokenType) -> Style:
    for kind, style in _STYLES:
        if is_token_subtype(token, kind):
            return style
    return Style.PLAIN


def _add(spans: list[Span], span: Span) -> None:
    if spans and spans[-1].style is span.style:
        span = Span(spans.pop().text + span.text, span.style)
    spans.append(span)
