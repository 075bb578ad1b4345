"""Text without styles, safe to print anywhere."""

from __future__ import annotations

from tfdbg_cli.document.text import Line, printable


def safe(text: str) -> str:
    """`text` with control characters other than the tab made visible."""
    return "\t".join(map(printable, text.split("\t"))) if "\t" in text else printable(text)


def harmless(text: str) -> str:
    """`text`, of one or several lines, with control characters made visible."""
    return "\n".join(map(safe, text.split("\n")))


def plain_row(line: Line) -> str:
    """One line without styles."""
    return line.text.rstrip(" ")
