"""Event sets that are still being written: what came since one looked last."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tfdbg_cli.formats.event_sets.event_set import EventSet
from tfdbg_cli.formats.event_sets.listing import event_sets
from tfdbg_cli.formats.event_sets.reader import read_run
from tfdbg_cli.formats.recording.format import Place
from tfdbg_cli.model.runs import Run


class Growth(NamedTuple):
    """A run that is new, or that grew: its place in the recording, and its tensors from `start` on."""

    place: int
    run: Run
    start: int


class Following:
    """A folder that sets are written into. A run is told once its call is, and eager ops as they come."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sets: dict[str, EventSet] = {}
        self._seen: dict[tuple[str, int], int] = {}

    def growth(self) -> Iterator[Growth]:
        """What came since the last time, the oldest first."""
        before = 0
        for files in event_sets(self._folder, Place(self._folder).names):
            key = files.run_id or files.hosts[0].prefix
            events = self._sets.get(key)
            if events is None or len(events.files.hosts) != len(files.hosts):
                events = self._sets[key] = EventSet(files)
            else:
                events.look()
            first = max((place for name, place in self._seen if name == key), default=0)
            for place in range(first, len(events.spans)):
                span = events.spans[place]
                if span.call and span.end == span.first:  # its call is not written yet
                    continue
                start = self._seen.get((key, place), 0)
                run = read_run(events, place)
                if len(run.tensors) > start or (key, place) not in self._seen:
                    self._seen[key, place] = len(run.tensors)
                    yield Growth(before + place, run, start)
            before += len(events.spans)
