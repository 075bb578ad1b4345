"""Sources of a made-up run."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence


class SavedSources:
    """Source files by the path they had."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def lines(self, path: str) -> Sequence[str] | None:
        text = self._texts.get(path)
        # Not splitlines: a form feed inside a line is no line end to Python, and would shift all that follow.
        return None if text is None else [line.rstrip("\n") for line in io.StringIO(text, newline=None)]
