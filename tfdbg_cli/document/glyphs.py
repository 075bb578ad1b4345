"""ASCII replacements of the box, arrow and other glyphs that tfdbg draws."""

from __future__ import annotations

from collections.abc import Mapping

# Each takes one column, as its glyph does, since widths were computed before.
PLAIN: Mapping[str, str] = {
    **dict(
        zip(
            "█▐│─┌┐└┘├┤┬┴┼…›‹▸▴▲▼●↑↓←→·∞×–±≠≤≥µμσ²∈▁▂▃▄▅▆▇",
            "#||-+++++++++~><>^^v*^v<>.8x- !<>uus2:_.-=+*%",  # no + for ±, which would count one sign alone
            strict=True,
        )
    ),
    "\u2800": " ",
    **dict.fromkeys(map(chr, range(0x2801, 0x2900)), "*"),  # braille, of which curves are made
}

_TABLE = str.maketrans(dict(PLAIN))


def in_ascii(text: str) -> str:
    """`text` with our glyphs replaced; characters of a program's own stay."""
    return text.translate(_TABLE)
