"""The source files of a program, as its recording keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tfdbg_cli.formats.container.index import DamagedIndexError, Index
from tfdbg_cli.formats.recording.traceback_table import source_lines


class RecordedSources:
    """Source files by the path that they had when the graph was built."""

    def __init__(self, index: Index, numbers: Mapping[str, int]) -> None:
        self._index = index
        self._numbers = numbers
        self._lines: dict[str, Sequence[str] | None] = {}

    def lines(self, path: str) -> Sequence[str] | None:
        if path not in self._lines:
            self._lines[path] = self._read(path)
        return self._lines[path]

    def damaged(self) -> Iterator[str]:
        """The paths of those whose texts are not what was written. Reads all of them."""
        return (path for path in self._numbers if self.lines(path) is None)

    def _read(self, path: str) -> Sequence[str] | None:
        number = self._numbers.get(path)
        try:
            return None if number is None else source_lines(self._index.content(number))
        except DamagedIndexError:
            return None  # better no source than another one
