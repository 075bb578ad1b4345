"""Text that any terminal and any encoding can be given: no control characters, and ASCII in place of our glyphs."""

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
    """`text` with the box, arrow and other glyphs that tfdbg draws replaced; characters of a program's own stay."""
    return text.translate(_TABLE)


def printable(text: str) -> str:
    """`text` with control characters made visible."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def safe(text: str) -> str:
    """`text` with control characters other than the tab made visible."""
    return "\t".join(map(printable, text.split("\t"))) if "\t" in text else printable(text)


def harmless(text: str) -> str:
    """`text`, of one or several lines, with control characters made visible."""
    return "\n".join(map(safe, text.split("\n")))
