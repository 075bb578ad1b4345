"""Where profiles lie: `LOGDIR/plugins/profile/TIME/HOST.xplane.pb`, looked for by names alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tfdbg_cli.formats.recording.format import Place

ENDING = ".xplane.pb"
PLUGINS, PROFILE = "plugins", "profile"
# Keras writes into LOGDIR/train, and a person has a log directory for each try, in one of all tries.
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


def profiles_at(place: Place) -> list[ProfileFile]:
    """The profiles that are at the place or in it, the oldest first."""
    if place.is_file:
        time = place.path.parent.name
        return [ProfileFile(place.path, time if _TIME.fullmatch(time) else "")]
    return sorted(profiles_in(place), key=lambda file: (file.time, file.logdir, file.host))


def profiles_in(place: Place) -> Iterator[ProfileFile]:
    """The profiles in a folder, in no order, as they are found: in a folder of one profile, of several, or above."""
    if any(name.endswith(ENDING) for name in place.names):
        yield from _of_one_time(place, "")
    elif place.path.name == PROFILE or any(_TIME.fullmatch(name) for name in place.names):
        yield from _of_times(place, "")
    elif place.path.name == PLUGINS and PROFILE in place.names:
        yield from _of_times(Place(place.path / PROFILE), "")
    else:
        yield from _of_logdirs(place)


def _of_logdirs(place: Place) -> Iterator[ProfileFile]:
    """Those of a log directory, and of those below it, a few levels deep; not of what is linked to."""
    waiting = [(place, "", 0)]
    looked_at = 0
    while waiting and looked_at < _MOST_FOLDERS:
        folder, logdir, depth = waiting.pop(0)
        looked_at += 1
        if PLUGINS in folder.names:
            yield from _of_times(Place(folder.path / PLUGINS / PROFILE), logdir)
        if depth < _LEVELS and len(waiting) < _MOST_FOLDERS:
            below = [name for name in folder.folders if name != PLUGINS and not name.startswith(".")]
            waiting += [
                (Place(folder.path / name), f"{logdir}/{name}" if logdir else name, depth + 1)
                for name in below[:_MOST_FOLDERS]
            ]


def _of_times(place: Place, logdir: str) -> Iterator[ProfileFile]:
    for name in place.folders:
        yield from _of_one_time(Place(place.path / name), logdir)


def _of_one_time(place: Place, logdir: str) -> Iterator[ProfileFile]:
    time = place.path.name if place.path.name else ""
    for name in place.names:
        if name.endswith(ENDING):
            yield ProfileFile(place.path / name, time, logdir)
