"""Opening what a person names: one run, or a folder of many."""

from __future__ import annotations

import os
import shlex
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import overload

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundle_reader import is_bundle
from tfdbg_cli.formats.call_info import RUN_DIRECTORY
from tfdbg_cli.formats.case_layout import CASE_DIRECTORY
from tfdbg_cli.formats.device_names import DEVICE_PREFIX
from tfdbg_cli.formats.dump_listing import CORE_METADATA_PREFIX, FEED_KEYS_PREFIX, FETCHES_PREFIX
from tfdbg_cli.formats.dump_reader import read_dump
from tfdbg_cli.formats.writing import is_unfinished
from tfdbg_cli.model.runs import Opened, Run

_RUN_MARKS = (DEVICE_PREFIX, CORE_METADATA_PREFIX, FETCHES_PREFIX, FEED_KEYS_PREFIX)
_WHAT_OPENS = (
    "tfdbg opens a dump directory of TensorFlow's debugger (it holds _tfdbg_device_… folders)"
    " or a folder of such runs (run_<time>_<number>)."
)
_BUNDLE = "This is a bundle: `tfdbg replay {path}` makes the run again."
_RUNS_KEPT = 16


def open_path(path: Path | str) -> Opened:
    """The recording at `path`: one dump directory, or the root of a session with many runs, in order of number.

    Runs are read when they are looked at.

    Raises:
        TfdbgError: there is nothing there, or nothing that tfdbg can open; the hint says what it opens.

    """
    place = Path(path).expanduser()
    names = _entries(place)
    if _is_run(names):
        notes = (_BUNDLE.format(path=shlex.quote(str(place))),) if is_bundle(place) else ()
        return Opened(str(place), SavedRuns([place]), notes=notes)
    runs = _runs_in(place, names)
    if runs:
        return Opened(str(place), SavedRuns(runs))
    raise _foreign(place, names)


class SavedRuns(Sequence[Run]):
    """Runs on disk, each read on first access; the few that were used last are kept."""

    def __init__(self, directories: Sequence[Path]) -> None:
        self._directories = directories
        self._kept: OrderedDict[int, Run] = OrderedDict()

    def __len__(self) -> int:
        return len(self._directories)

    @overload
    def __getitem__(self, index: int) -> Run: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...

    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        if isinstance(index, slice):
            return SavedRuns(self._directories[index])
        place = range(len(self._directories))[index]
        if place not in self._kept:
            self._kept[place] = read_dump(self._directories[place])
            if len(self._kept) > _RUNS_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(place)
        return self._kept[place]


def _entries(place: Path) -> list[str]:
    try:
        return sorted(os.listdir(place))  # noqa: PTH208 - names are all that is wanted
    except FileNotFoundError:
        raise TfdbgError(f"There is no {place}.", hint="Check the path.") from None
    except NotADirectoryError:
        raise TfdbgError(f"{place} is a file, not a folder.", hint=_file_hint(place)) from None
    except OSError as error:
        raise TfdbgError(f"Cannot read {place}: {error.strerror or error}.", hint="Check its permissions.") from None


def _file_hint(place: Path) -> str:
    for parent in place.parents:
        if parent.name.startswith(DEVICE_PREFIX):
            return f"It is a part of a dump: open {parent.parent}."
    return _WHAT_OPENS


def _is_run(names: Sequence[str]) -> bool:
    return any(name.startswith(_RUN_MARKS) for name in names)


def _runs_in(place: Path, names: Sequence[str]) -> list[Path]:
    """Folders of runs in `place`: numbered ones by number, then others by name."""
    numbered: list[tuple[int, int, Path]] = []
    others: list[Path] = []
    for name in _folders(place, names):
        match = RUN_DIRECTORY.fullmatch(name)
        directory = place / name
        if match is not None:
            numbered.append((int(match[2]), int(match[1]), directory))
        elif _holds_run(directory):
            others.append(directory)
    return [directory for _, _, directory in sorted(numbered)] + others


def _folders(place: Path, names: Sequence[str]) -> list[str]:
    """Those of `names` that are folders in `place`, and no links. There may be a hundred thousand."""
    try:
        with os.scandir(place) as entries:
            found = {entry.name for entry in entries if entry.is_dir(follow_symlinks=False)}
    except OSError:
        return []
    return [name for name in names if name in found and not is_unfinished(name)]


def _holds_run(directory: Path) -> bool:
    try:
        return _is_run(os.listdir(directory))  # noqa: PTH208
    except OSError:
        return False


def _foreign(place: Path, names: Sequence[str]) -> TfdbgError:
    if any(name.startswith("tfdbg_events.") for name in names):
        return TfdbgError(
            f"{place} was written by Debugger V2 (tf.debugging.experimental.enable_dump_debug_info),"
            " which cannot be opened yet.",
            hint=f"View it with TensorBoard: tensorboard --logdir {shlex.quote(str(place))}",
        )
    if place.name.startswith(DEVICE_PREFIX):
        return TfdbgError(f"{place} is the folder of one device in a dump.", hint=f"Open {place.resolve().parent}.")
    if place.name == CASE_DIRECTORY:
        return TfdbgError(f"{place} is a part of a dump.", hint=f"Open {place.resolve().parent}.")
    if not names:
        return TfdbgError(f"The folder {place} is empty.", hint=_WHAT_OPENS)
    return TfdbgError(f"The folder {place} holds no runs of TensorFlow's debugger.", hint=_WHAT_OPENS)
