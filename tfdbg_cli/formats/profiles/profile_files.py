"""Where profiles lie: `LOGDIR/plugins/profile/TIME/HOST.xplane.pb`, looked for by names alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tfdbg_cli.formats.recording.format import NamedPath

ENDING = ".xplane.pb"
PLUGINS, PROFILE = "plugins", "profile"
# Keras writes into LOGDIR/train, and a user has a log directory for each try, in one of all tries.
_LEVELS = 3
_MOST_FOLDERS = 500
_TIME = re.compile(r"(\d{4})_(\d\d)_(\d\d)_(\d\d)_(\d\d)_(\d\d)")


@dataclass(frozen=True)
class ProfileFile:
    """The profile of one host. `time` is the folder of one profile; `logdir` the way to it from what was opened."""

    path: Path
    time: str
    logdir: str = ""

    @property
    def host(self) -> str:
        """What the file is named after."""
        return self.path.name.removesuffix(ENDING)

    @property
    def title(self) -> str:
        """In words: `train: 2026-11-26 09:16:05 on worker0`."""
        found = _TIME.fullmatch(self.time)
        time = "{}-{}-{} {}:{}:{}".format(*found.groups()) if found is not None else self.time
        words = f"{time} on {self.host}" if time else self.host
        return f"{self.logdir}: {words}" if self.logdir else words


def profiles_at(place: NamedPath) -> list[ProfileFile]:
    """The profiles that are at the place or in it, the oldest first."""
    if place.is_file:
        return [ProfileFile(place.path, _time_of(place.path.resolve().parent.name))]
    return sorted(profiles_in(place), key=lambda file: (file.time, file.logdir, file.host))


def profiles_in(place: NamedPath) -> Iterator[ProfileFile]:
    """The profiles in a folder, as they are found: in a folder of one profile, of several, or some levels above."""
    own = place.path.resolve().name
    if own in (PROFILE, PLUGINS):
        yield from _of_times(place if own == PROFILE else NamedPath(place.path / PROFILE), "")
        return
    waiting = [_Folder(place, _time_of(own), "", 0)]
    looked_at = 0
    while waiting and looked_at < _MOST_FOLDERS:
        folder = waiting.pop(0)
        looked_at += 1
        yield from _of_one_time(folder.place, folder.time, folder.logdir)
        if PLUGINS in folder.place.names:
            yield from _of_times(NamedPath(folder.place.path / PLUGINS / PROFILE), folder.logdir)
        if folder.depth < _LEVELS and len(waiting) < _MOST_FOLDERS:
            waiting += folder.below()


@dataclass(frozen=True)
class _Folder:
    """A folder that is looked through; `time` is its name, where that is one."""

    place: NamedPath
    time: str
    logdir: str
    depth: int

    def below(self) -> Iterator[_Folder]:
        names = [name for name in self.place.folders if name != PLUGINS and not name.startswith(".")]
        for name in names[:_MOST_FOLDERS]:
            time = _time_of(name)
            logdir = self.logdir if time else f"{self.logdir}/{name}" if self.logdir else name
            yield _Folder(NamedPath(self.place.path / name), time, logdir, self.depth + 1)


def _of_times(place: NamedPath, logdir: str) -> Iterator[ProfileFile]:
    """The profiles in a folder `plugins/profile`, by whatever name each was given."""
    for name in place.folders:
        yield from _of_one_time(NamedPath(place.path / name), name, logdir)


def _of_one_time(place: NamedPath, time: str, logdir: str) -> Iterator[ProfileFile]:
    for name in place.names:
        if name.endswith(ENDING):
            yield ProfileFile(place.path / name, time, logdir)


def _time_of(name: str) -> str:
    """The name, where it is a time as TensorFlow writes it; else nothing."""
    return name if _TIME.fullmatch(name) else ""
