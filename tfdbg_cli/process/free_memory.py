"""How much more memory this process may take: no more than the machine, its containers and its own limit leave.

The kernel ends a process whose container has used up its memory, however much of the machine is free. Control groups
of both versions are read, as Linux shows them to this process, with those that they lie in.
"""

from __future__ import annotations

import os
import re
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

_IN_MEMORY = frozenset({"tmpfs", "ramfs"})
_ESCAPED = re.compile(r"\\([0-7]{3})")  # how mountinfo writes blanks in paths


@dataclass(frozen=True, slots=True)
class _GroupVersion:
    """Files of a control group's folder: its limits, what it has taken, and what of that it gives up if need be."""

    file_system: str
    limits: tuple[str, ...]
    taken: str
    caches: frozenset[str]  # lines of memory.stat: counted as taken, but MemAvailable counts their like as free


_VERSIONS = (
    _GroupVersion(
        "cgroup2",
        ("memory.max", "memory.high"),
        "memory.current",
        frozenset({"inactive_file", "active_file", "slab_reclaimable"}),
    ),
    _GroupVersion(
        "cgroup",
        ("memory.limit_in_bytes",),
        "memory.usage_in_bytes",
        frozenset({"total_inactive_file", "total_active_file"}),
    ),
)


@dataclass(frozen=True, slots=True)
class _Mount:
    """A line of mountinfo; `root` is the folder of its file system that is to be seen at `point`."""

    device: str  # major:minor
    root: PurePosixPath
    point: str
    file_system: str
    options: tuple[str, ...]


def free_memory() -> int:
    """Bytes that this process may take beside what it has. They are read at most once a second."""
    return _free_memory(int(time.monotonic()))


@lru_cache(maxsize=1)
def _free_memory(_second: int) -> int:
    return least_free(Path("/"))


def least_free(root: Path) -> int:
    """The least that any limit leaves, in bytes, by the files of Linux below `root`."""
    return max(0, min([_of_machine(root), *_of_groups(root), *_of_address_space(root)]))


def lies_in_memory(place: Path, root: Path = Path("/")) -> bool:
    """Whether the files below `place`, which has to exist, take memory instead of a disk."""
    device = place.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    return any(mount.device == number and mount.file_system in _IN_MEMORY for mount in _mounts(root))


def _of_machine(root: Path) -> int:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    # Elsewhere only the size of the whole memory is to be had; take a quarter of it as free.
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def _of_address_space(root: Path) -> Iterator[int]:
    """What `ulimit -v` leaves, if it is set."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    claimed = [int(line.split()[0]) for line in _lines(root / "proc/self/statm")]
    if limit != resource.RLIM_INFINITY and claimed:
        yield limit - claimed[0] * resource.getpagesize()


def _of_groups(root: Path) -> Iterator[int]:
    """What the control groups that this process is in leave, those of containers among them."""
    for version in _VERSIONS:
        for folder in _folders(root, version):
            limits = [limit for name in version.limits if (limit := _number(folder / name)) is not None]
            taken = _number(folder / version.taken)
            if limits and taken is not None:
                yield min(limits) - max(0, taken - _cached(folder, version))


@lru_cache(maxsize=len(_VERSIONS))  # a process seldom moves to another group, and there may be hundreds of mounts
def _folders(root: Path, version: _GroupVersion) -> tuple[Path, ...]:
    """The folder of the group that this process is in, and those of the groups around it, as far as they are seen."""
    found = list[Path]()
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if (version.file_system == "cgroup2") != (controllers == ""):
            continue
        for mount in _mounts(root):
            counts_memory = not controllers or {"memory"} <= {*controllers.split(",")} & {*mount.options}
            if mount.file_system == version.file_system and counts_memory:
                top = root / mount.point.lstrip("/")
                folder = top / _below(mount.root, PurePosixPath(path))
                found += (folder, *(above for above in folder.parents if above.is_relative_to(top)))
    return tuple(found)


def _below(seen: PurePosixPath, path: PurePosixPath) -> PurePosixPath:
    """The group `path`, relative to the one that is `seen` as the root; that itself, where it is not below it.

    So it is in a container whose groups are those of the host, though it sees its own as the root of all.
    """
    below = path.is_relative_to(seen) and ".." not in path.parts
    return path.relative_to(seen) if below else PurePosixPath()


def _cached(folder: Path, version: _GroupVersion) -> int:
    rows = (line.split() for line in _lines(folder / "memory.stat"))
    return sum(int(row[1]) for row in rows if row[0] in version.caches)


def _number(file: Path) -> int | None:
    """The number in `file`; None where there is none, as where it says "max"."""
    text = "".join(_lines(file))
    return int(text) if text.isdecimal() else None


def _mounts(root: Path) -> Iterator[_Mount]:
    for line in _lines(root / "proc/self/mountinfo"):
        before, _, behind = line.partition(" - ")
        _, _, device, seen, point, *_ = before.split(" ")
        file_system, _, options = behind.split(" ", 2)
        path = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), point)
        yield _Mount(device, PurePosixPath(seen), path, file_system, tuple(options.split(",")))


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
