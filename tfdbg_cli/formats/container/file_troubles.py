"""Data files of a recording that are not there for us, or end before what was written into them does."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.recording.unreadable import cannot_read, is_refused

_SWAPPED = "One of both is of another recording, or of another time: copy both again. Its values are not shown."
_COPY = "Was it copied whole? What lies in the other files can be looked at."
_SOME = "FROM {table} WHERE run = {run} AND file = {file} AND stored > 0 AND offset + stored > {there}"


@dataclass(frozen=True, slots=True)
class FileTrouble:
    """What is wrong with data file `number`, without a full stop, and what to do.

    `there` are the bytes of it that can be read, None where nothing of it can.
    """

    number: int
    text: str
    there: int | None = None
    hint: str = _COPY

    @property
    def behind(self) -> str:
        """Where the values lie that cannot be read."""
        return "lie in it" if self.there is None else "lie behind that"

    def of_run(self, run: str) -> str:
        """The condition in SQL that values of the run, a number or a column, cannot be read."""
        if self.there is None:
            return "1"
        facts = {"run": run, "file": self.number, "there": self.there}
        return " OR ".join(
            f"EXISTS (SELECT 1 {_SOME.format(table=table, **facts)})" for table in ("tensors", "feeds")
        )


def of_another(name: str) -> str:
    """What is to be said, without a full stop, of the data file of that name where it is of another recording."""
    why = "it is of another recording, or tensors lie elsewhere in it"
    return f"The file {name} is not the one that index.sqlite tells of: {why}"


def trouble_of(root: Path, number: int, size: int, *, foreign: bool) -> FileTrouble | None:
    """What is wrong with the data file `number` of the recording in `root`, into which `size` bytes were written.

    It is not opened: how long it is tells that it was cut; `foreign` says that it is of another recording.
    """
    path = layout.data_file(root, number)
    name = path.relative_to(root)
    try:
        facts = path.stat()
    except OSError as error:
        text = f"The file {name} cannot be read: {error.strerror or error}"
        return FileTrouble(number, text, hint=cannot_read(path, error).hint if is_refused(error) else _COPY)
    if not stat.S_ISREG(facts.st_mode):
        return FileTrouble(number, f"The file {name} cannot be read: it is no file")
    if foreign:
        return FileTrouble(number, of_another(str(name)), hint=_SWAPPED)
    if facts.st_size < size:
        return FileTrouble(number, f"The file {name} ends at byte {facts.st_size:,} of {size:,}", facts.st_size)
    return None
