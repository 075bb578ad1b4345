"""Lines as text, to be read in tests."""

from __future__ import annotations

from collections.abc import Iterable

from tfdbg_cli.document.text import Line


def plain(lines: Iterable[Line]) -> str:
    """The text of `lines`, without styles."""
    return "\n".join(item.text.rstrip() for item in lines)
