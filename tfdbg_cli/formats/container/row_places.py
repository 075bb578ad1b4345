"""Rows of the index that have tensors lie where their data files have nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.container.reader import RecordingReader
from tfdbg_cli.model.units import count_text

# Of each table that tells of bytes: what its rows are, and how the first of them is called.
_TABLES = {
    "tensors": ("tensor", "texts.text || ':' || slot", "JOIN texts ON texts.id = node"),
    "feeds": ("feed", "texts.text", "JOIN texts ON texts.id = name"),
}
_WRONG = "stored > 0 AND (offset < 0 OR offset + stored > {end})"


def misplaced(reader: RecordingReader, sizes: Mapping[int, int]) -> list[str]:
    """A sentence for each data file, `sizes` telling how long each is, behind whose end rows of the index point.

    Files that are not among `sizes` are told by the index alone: there is nothing of them.

    Raises:
        TfdbgError: the index is damaged.

    """
    found: list[str] = []
    for table, (noun, called, join) in _TABLES.items():
        asked = f"SELECT file, max(offset + stored), min(offset) FROM {table} WHERE stored > 0 GROUP BY file"
        for file, end, begin in reader.ask(asked):
            if not isinstance(file, int):
                found.append(f"A {noun} is to lie in no file.")
                continue
            size = sizes.get(file, 0)
            if file in sizes and not _beyond(begin, end, size):
                continue
            rows = f"FROM {table} WHERE file = ? AND {_WRONG.format(end=size)}"
            ((count,),) = reader.ask(f"SELECT count(*) {rows}", file)
            first = reader.ask(
                f"SELECT run, {called}, offset, stored FROM {table} {join} WHERE file = ?"
                f" AND {_WRONG.format(end=size)} ORDER BY run, place LIMIT 1",
                file,
            )
            of_first = "".join(
                f", first {what} of run {run}: {stored} bytes at {offset}" for run, what, offset, stored in first
            )
            name = layout.data_file(Path(), file)
            there = f"which has {size:,} bytes" if file in sizes else "which the index does not have"
            found.append(f"{count_text(count, noun)} are to lie outside of {name}, {there}{of_first}.")
    return found


def _beyond(begin: object, end: object, size: int) -> bool:
    numbers = isinstance(begin, int | float) and isinstance(end, int | float)
    return not numbers or begin < 0 or end > size  # type: ignore[operator]
