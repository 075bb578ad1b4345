"""What a format of recordings is, and what it makes of a path."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Run


@dataclass(frozen=True)
class NamedPath:
    """A path to be opened, a file or a folder. A folder is listed once, however many formats look at it."""

    path: Path

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of what is in the folder, sorted; of a file, and of a folder that cannot be read, none."""
        return () if isinstance(self._listing, OSError) else self._listing

    @cached_property
    def folders(self) -> Sequence[str]:
        """Those of the names that are folders, and no links. There may be a hundred thousand."""
        try:
            with os.scandir(self.path) as entries:
                found = {entry.name for entry in entries if entry.is_dir(follow_symlinks=False)}
        except OSError:
            return ()
        return [name for name in self.names if name in found]

    @property
    def is_file(self) -> bool:
        """Whether there is something other than a folder at the path."""
        return isinstance(self._listing, NotADirectoryError)

    @property
    def is_missing(self) -> bool:
        """Whether there is nothing there."""
        return isinstance(self._listing, FileNotFoundError)

    def require_readable(self) -> None:
        """Refuse what is not there, a folder that cannot be read, and what is neither a file nor a folder.

        Raises:
            TfdbgError: it is so.

        """
        error = self._listing
        if isinstance(error, FileNotFoundError):
            raise TfdbgError(f"There is no {self.path}.", hint="Check the path.")
        if not isinstance(error, OSError):
            return
        from tfdbg_cli.formats.recording.unreadable import cannot_read, special_kind  # a folder of runs needs neither

        if not self.is_file:
            raise cannot_read(self.path, error)
        if kind := special_kind(self.path):
            raise TfdbgError(f"{self.path} is {kind}.", hint="Name a file or a folder.")

    @cached_property
    def _listing(self) -> Sequence[str] | OSError:
        try:
            return sorted(os.listdir(self.path))  # noqa: PTH208 - names are all that is wanted
        except OSError as error:
            return error


class RunsOnDisk(Protocol):
    """What a format reads from a place.

    Runs hold what was recorded, and say what was not: a value that was not recorded is a NoValue with a sentence. If
    statistics were recorded instead of values, the run's store implements `model.tensors.TellsSummaries`.
    """

    @property
    def runs(self) -> Sequence[Run]:
        """The runs, the oldest first; each may be read when it is looked at."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Sentences for the first screen: what this format, or this recording, cannot tell."""
        ...

    @property
    def workers(self) -> Sequence[str]:
        """The workers of a job whose runs these are; none where no job recorded."""
        ...

    @property
    def went_bad(self) -> bool:
        """Whether it was written because a number of its only run is not finite, as far as it says so."""
        ...


@dataclass(frozen=True)
class Examination:
    """What `tfdbg doctor` says of a place: what it is, facts about it, and what is wrong, each with what to do."""

    what: str
    facts: tuple[str, ...] = ()
    troubles: tuple[tuple[str, str], ...] = ()


UNCHECKED = "Values are not looked at: there is no checksum that would tell of a changed byte."
"""A fact about a place whose values `tfdbg doctor` takes for what they are."""


def told_of_runs(noted: Mapping[str, Sequence[int]], count: int) -> Iterator[str]:
    """Notes of runs, each with the numbers of its runs among `count` looked at; named where not all have the note."""
    for note, numbers in noted.items():
        if len(numbers) == count:
            yield note
        else:
            more = f" and {len(numbers) - 1:,} more" if len(numbers) > 1 else ""
            yield f"Run {numbers[0]}{more}: {note}"


@dataclass(frozen=True)
class Format:
    """A format that tfdbg opens. `name` describes it, for the message about anything else: "tfdbg opens NAME".

    `open` may raise a TfdbgError. `mistaken` gives the error for a place that is not of this format but looks like a
    part of it, such as a file inside a recording. `examine` is for `tfdbg doctor`; without it, that shows the notes
    of the recording and its runs. `noun` is what to call its runs.
    """

    name: str
    recognizes: Callable[[NamedPath], bool]
    open: Callable[[NamedPath], RunsOnDisk]
    mistaken: Callable[[NamedPath], TfdbgError | None] = lambda place: None
    examine: Callable[[NamedPath], Examination] | None = None
    noun: str = "run"
