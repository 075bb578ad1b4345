"""What filters said of every tensor of a recorded run, kept in the user's cache for the next opening.

Nothing is written into the recording, which may be somebody else's. What was kept goes by the name, the size and the
time of every file of the recording: when one of them changes, it is not found any more.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from tfdbg_cli.analysis.watch.answers import Answers
from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import our_filter
from tfdbg_cli.commands.whole_file import write_whole
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.regular_file import read_whole
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import TellsFiles
from tfdbg_cli.paths import scans_folder
from tfdbg_cli.version import __version__

_FORM = 1  # of a file of answers; with another one those that are there are not found
_WORTH_BYTES, _WORTH_TENSORS = 16 << 20, 10_000  # less is asked again before anybody notices
_MOST_FILES = 200  # of answers, the oldest go first
_BYTES: Mapping[bool | str | None, int] = {False: 0, True: 1, None: 2}
_SAID = {byte: answer for answer, byte in _BYTES.items()}


class KeptScan:
    """The answers of `tensor_filter` for all tensors of `run`, where they are worth keeping."""

    def __init__(self, run: Run, tensor_filter: TensorFilter) -> None:
        self._count = len(run.tensors)
        self._path = _file_of(run, tensor_filter)

    def recall(self, answers: Answers) -> None:
        """Put what was kept into `answers`, unless something is there already."""
        if self._path is None or answers:
            return
        try:
            said = read_whole(self._path, self._count)
        except OSError:
            return  # nothing was kept
        if len(said) == self._count and not said.strip(bytes(_SAID)):
            answers.update((index, _SAID[byte]) for index, byte in enumerate(said))

    def keep(self, answers: Answers) -> None:
        """Keep `answers`, if each tensor of the run has one and the filter never raised."""
        if self._path is None or len(answers) < self._count or self._path.exists():
            return
        said = bytearray(self._count)
        for index, answer in [(index, answer) for index, answer in answers.items() if answer is not False]:
            if isinstance(answer, str):
                return
            said[index] = _BYTES[answer]

        def write(file: IO[bytes]) -> None:
            file.write(said)

        with suppress(OSError, TfdbgError):  # a cache that cannot be written is one that holds nothing
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._path, write)
            _forget_the_oldest(self._path.parent)


def _file_of(run: Run, tensor_filter: TensorFilter) -> Path | None:
    """Where those answers are kept; None where they depend on more than the files of the run, or are had at once."""
    ours, store = our_filter(tensor_filter), run.tensors
    if ours is None or ours.compares or not isinstance(store, TellsFiles):
        return None
    try:
        number, files = store.files()
        found = [(os.path.realpath(file), file.stat()) for file in files]
    except OSError:
        return None
    if len(store) < _WORTH_TENSORS and sum(facts.st_size for _, facts in found) < _WORTH_BYTES:
        return None
    facts = [(path, facts.st_size, facts.st_mtime_ns, facts.st_ino) for path, facts in found]
    told = [_FORM, __version__, number, len(store), ours.name, ours.parameter, facts]
    return scans_folder() / hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _forget_the_oldest(folder: Path) -> None:
    files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime_ns)
    for file in files[:-_MOST_FILES]:
        file.unlink(missing_ok=True)
