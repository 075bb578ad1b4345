"""What lies in a dump directory, from names of files alone.

Names are data: they are never joined to paths, links that lead out of the directory are not followed, and only
regular files count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import repeat
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.dumps.device_names import DEVICE_PREFIX, device_of

RUN_DIRECTORY = re.compile(r"run_(\d+)_(\d+)")  # in a folder of many: when it began, its number
CORE_METADATA_PREFIX = "_tfdbg_core_metadata_"
FETCHES_PREFIX = "_tfdbg_fetches_info_"
FEED_KEYS_PREFIX = "_tfdbg_feed_keys_info_"
GRAPH_PREFIX = "_tfdbg_graph_"
VALUE_OP = "DebugIdentity"  # the debug op whose output is the tensor itself
_MAX_DEPTH = 200
_MOST_ASKED = 5_000  # files whose size is asked for at once

# <last part of the node's name>_<slot>_<debug op>_<microseconds>[-<count>]
_DUMP_NAME = re.compile(r"(.*)_(\d{1,9})_([A-Za-z][A-Za-z0-9]*)_(\d{1,18})(?:-(\d{1,9}))?", re.DOTALL)
_SLOT, _DEBUG_OP, _LONGEST_TIME = re.compile(r"\d{1,9}"), re.compile("[A-Za-z][A-Za-z0-9]*"), 18
_TIME = itemgetter(0)  # of a DumpFile
_FIRST_OUTPUT = f"_0_{VALUE_OP}_"


class DumpFile(NamedTuple):
    """One dumped tensor. `repeat` tells dumps of the same microsecond apart; `device` as in the directory's name."""

    time_us: int
    repeat: int
    node: str
    slot: int
    debug_op: str
    device: str
    path: str

    @property
    def file_bytes(self) -> int | None:
        """How many bytes the file has now; None where it is not there."""
        try:
            return os.stat(self.path).st_size  # noqa: PTH116 - of many files, a Path takes longer than the question
        except OSError:
            return None


class DumpName(NamedTuple):
    """What the name of a dump file says: `base` is the last part of the node's name, `repeat` as in DumpFile."""

    base: str
    slot: int
    debug_op: str
    time_us: int
    repeat: int


def parse_dump_name(name: str) -> DumpName | None:
    """The parts of a dump file's name; None when it is no such name."""
    parts = _parts_of(name)
    return None if parts is None else DumpName(*parts)


def _parts_of(name: str) -> tuple[str, int, str, int, int] | None:
    parts = name.rsplit("_", 3)
    if len(parts) == 4:  # there may be very many, and nearly all are so: a pattern takes three times as long
        base, slot, debug_op, time_us = parts
        known = _slot_and_op(slot, debug_op)
        if known is not None and time_us.isdecimal() and len(time_us) <= _LONGEST_TIME:
            return base, *known, int(time_us), 0
    match = _DUMP_NAME.fullmatch(name)
    if match is None:
        return None
    base, slot, debug_op, time_us, repeat = match.groups()
    return base, int(slot), debug_op, int(time_us), int(repeat or 0)


@lru_cache(maxsize=4096)
def _slot_and_op(slot: str, debug_op: str) -> tuple[int, str] | None:
    return (int(slot), debug_op) if _SLOT.fullmatch(slot) and _DEBUG_OP.fullmatch(debug_op) else None


@dataclass
class DumpListing:
    """The files of one run by purpose, and what was odd about them (sentences)."""

    root: Path
    tensors: list[DumpFile] = field(default_factory=list)
    graphs: dict[str, list[Path]] = field(default_factory=dict)  # device to its graph files, oldest first
    devices: list[str] = field(default_factory=list)
    core_metadata: list[Path] = field(default_factory=list)
    fetches: list[Path] = field(default_factory=list)
    feed_keys: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def list_dump(directory: Path) -> DumpListing:
    """List the dump in `directory`.

    Raises:
        TfdbgError: the directory cannot be read.

    """
    root = os.path.realpath(directory)
    listing = DumpListing(Path(root))
    skipped = _Skipped()
    for entry in sorted(_entries(directory, root), key=lambda entry: entry.name):
        if entry.name.startswith(DEVICE_PREFIX):
            if entry.is_dir(follow_symlinks=False):
                _list_device(entry, listing, skipped)
            elif entry.is_symlink():
                skipped.links.append(entry.name)
            continue
        for prefix, paths in (
            (CORE_METADATA_PREFIX, listing.core_metadata),
            (FETCHES_PREFIX, listing.fetches),
            (FEED_KEYS_PREFIX, listing.feed_keys),
        ):
            if entry.name.startswith(prefix) and _usable(entry, root, skipped):
                paths.append(Path(entry.path))
    listing.notes.extend(skipped.notes())
    listing.notes.extend(_empty_files(listing))
    return listing


def run_number(name: str) -> int | None:
    """The number of the run whose folder is called `name`: folders count from 0. None where the name has none."""
    match = RUN_DIRECTORY.fullmatch(name)
    return int(match[2]) + 1 if match is not None else None


def tensor_count(directory: Path) -> int:
    """How many tensors `list_dump` finds in `directory`, by the names of files alone.

    Raises:
        TfdbgError: the directory cannot be read.

    """
    root, skipped = str(directory), _Skipped()  # to look for links in its path takes as long as the rest
    return sum(
        parse_dump_name(name) is not None and not name.startswith(GRAPH_PREFIX)
        for device in _entries(directory, root)
        if device.name.startswith(DEVICE_PREFIX) and device.is_dir(follow_symlinks=False)
        for entries, _ in _folders_below(device.path, root, skipped)
        for entry in entries
        for name in (readable(entry.name),)
    )


def _entries(directory: Path, root: str) -> list[os.DirEntry[str]]:
    """What is in `root`, which is another path to `directory`."""
    try:
        with os.scandir(root) as entries:
            return list(entries)
    except OSError as error:
        raise TfdbgError(
            f"Cannot read the folder {directory}: {error.strerror or error}.",
            hint="Check the path and its permissions.",
        ) from error


class _Skipped:
    """Counts what a listing leaves out."""

    def __init__(self) -> None:
        self.links: list[str] = []
        self.special: list[str] = []
        self.foreign: list[str] = []
        self.unreadable: list[str] = []

    def notes(self) -> Iterator[str]:
        for names, text in (
            (self.links, "{n} link{s} that lead out of the dump {were} not followed ({first})."),
            (self.special, "{n} file{s} that {are} no regular file{s} {were} left out ({first})."),
            (self.foreign, "{n} file{s} that {are} no tensor dump{s} {were} left out ({first})."),
            (self.unreadable, "{n} folder{s} of the dump could not be read ({first})."),
        ):
            if names:
                many = len(names) > 1
                yield text.format(
                    n=len(names), s="s" * many, were="were" if many else "was", are="are" if many else "is",
                    first=f"first {names[0]!r}" if many else repr(names[0]),
                )  # fmt: skip


def _usable(entry: os.DirEntry[str], root: str, skipped: _Skipped) -> bool:
    """Whether `entry` is a regular file inside of `root`."""
    if entry.is_symlink():
        target, inside = os.path.realpath(entry.path), os.path.realpath(root)
        if os.path.commonpath([target, inside]) != inside:
            skipped.links.append(readable(entry.name))
            return False
    try:
        usable = entry.is_file()
    except OSError:
        usable = False
    if not usable:
        skipped.special.append(readable(entry.name))
    return usable


def readable(name: str) -> str:
    """A file name as text that every terminal and JSON can hold: bytes that are not UTF-8 are written out."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "backslashreplace")


def _list_device(directory: os.DirEntry[str], listing: DumpListing, skipped: _Skipped) -> None:
    device = device_of(readable(directory.name))
    listing.devices.append(device)
    for entries, scope in _folders_below(directory.path, str(listing.root), skipped):
        likely = [one for one in entries if _FIRST_OUTPUT in one.name and not one.name.startswith(GRAPH_PREFIX)]
        plain = _first_outputs(likely, scope, device)
        if plain is None:
            likely, plain = [], ()
        listing.tensors += plain
        if len(likely) < len(entries):
            listed = set(likely)
            for entry in entries:
                if entry not in listed:
                    _list_file(entry, scope, device, listing, skipped)
    listing.graphs.get(device, []).sort(key=lambda path: path.name.rpartition("_")[2])


def _first_outputs(entries: Sequence[os.DirEntry[str]], scope: str, device: str) -> Iterable[DumpFile] | None:
    """The files `entries`, named like values of first outputs, as nearly all are; None where one is something else.

    There may be very many: to look at each would take as long as all else that a listing does.
    """
    if not entries:
        return ()
    halves = [entry.name.rsplit(_FIRST_OUTPUT, 1) for entry in entries]
    bases, times = [base for base, _ in halves], [time_us for _, time_us in halves]
    digits = "".join(times)
    if not ("".join(bases) + digits).isascii() or not digits.isdecimal():
        return None
    if not all(times) or max(map(len, times)) > _LONGEST_TIME:
        return None
    nodes = [scope + base for base in bases]
    paths = [entry.path for entry in entries]
    rows = zip(map(int, times), repeat(0), nodes, repeat(0), repeat(VALUE_OP), repeat(device), paths, strict=False)
    return map(tuple.__new__, repeat(DumpFile), rows)


def _folders_below(device: str, root: str, skipped: _Skipped) -> Iterator[tuple[list[os.DirEntry[str]], str]]:
    """The files of each folder in the folder of a device, with the folders that lead to it there."""
    pending = [(device, "", 0)]
    while pending:
        path, scope, depth = pending.pop()
        try:
            with os.scandir(path) as found:
                entries = list(found)
        except OSError:
            skipped.unreadable.append(readable(Path(path).name))
            continue
        files = [entry for entry in entries if entry.is_file(follow_symlinks=False)]  # no links: they lie here
        for entry in entries if len(files) != len(entries) else ():
            if entry.is_dir(follow_symlinks=False):
                if depth < _MAX_DEPTH:
                    pending.append((entry.path, f"{scope}{readable(entry.name)}/", depth + 1))
            elif not entry.is_file(follow_symlinks=False) and _usable(entry, root, skipped):
                files.append(entry)
        yield files, scope


def _list_file(entry: os.DirEntry[str], scope: str, device: str, listing: DumpListing, skipped: _Skipped) -> None:
    name = readable(entry.name)
    if name.startswith(GRAPH_PREFIX):
        listing.graphs.setdefault(device, []).append(Path(entry.path))
        return
    parts = _parts_of(name)
    if parts is None:
        skipped.foreign.append(scope + name)
        return
    base, slot, debug_op, time_us, repeat = parts
    listing.tensors.append(DumpFile(time_us, repeat, scope + base, slot, debug_op, device, entry.path))


def _latest(files: Sequence[DumpFile]) -> list[DumpFile]:
    """The last `_MOST_ASKED` of more files."""
    times = np.fromiter(map(_TIME, files), np.int64, len(files))
    return [files[at] for at in np.argpartition(times, -_MOST_ASKED)[-_MOST_ASKED:].tolist()]


def _empty_files(listing: DumpListing) -> Iterator[str]:
    """How many tensor files are empty, as a full disk leaves them.

    To ask very many for their size takes as long as to list them. The disk is full from some moment on: of so many
    all are asked only where one of the last is empty. One that is empty amid others shows as damaged by itself.
    """
    files = listing.tensors
    if len(files) > _MOST_ASKED and not any(file.file_bytes == 0 for file in _latest(files)):
        return
    empty = [file for file in files if file.file_bytes == 0]
    if empty:
        first = f"{empty[0].node}:{empty[0].slot}"
        verb = "is" if len(empty) == 1 else "are"
        yield f"{len(empty)} of {len(files)} tensor files {verb} empty (first {first}); was the disk full?"
