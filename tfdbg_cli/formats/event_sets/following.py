"""Event sets that are still being written: what came since one looked last."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tfdbg_cli.formats.event_sets.event_set import EventSet
from tfdbg_cli.formats.event_sets.listing import event_sets
from tfdbg_cli.formats.event_sets.reader import read_run
from tfdbg_cli.formats.recording.format import NamedPath
from tfdbg_cli.model.runs import Run


class Growth(NamedTuple):
    """A run that is new, or that grew: its place in the recording, and its tensors from `start` on."""

    place: int
    run: Run
    start: int


class Following:
    """A folder that sets are written into. A run is told once its call is, and eager ops as they come.

    What graphs did behind the last call is told at once where nothing was executed, as in sessions: none will come.
    Else it is told when asked for, as the call may only not be written yet; what was told is not told again with it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sets: dict[str, EventSet] = {}
        self._seen: dict[tuple[str, bool, float], int] = {}
        self._reached: dict[str, int] = {}  # by set, the last run that was told

    def growth(self, *, behind: bool = False) -> Iterator[Growth]:
        """What came since the last time, the oldest first; with `behind` all that has no call yet, too."""
        before = 0
        for files in event_sets(self._folder, NamedPath(self._folder).names):
            key = files.run_id or files.hosts[0].prefix
            events = self._sets.get(key)
            joined = False
            if events is None and self._sets and not files.version:
                continue  # it tells nothing of itself yet: it may be a host that joins
            if events is None:
                events = self._sets[key] = EventSet(files)
            else:
                joined = events.join(files)
                events.look()
            if joined:  # it may have made tensors in every run
                self._reached[key] = 0
            for place in range(self._reached.get(key, 0), len(events.spans)):
                span = events.spans[place]
                if span.is_open and len(events.executions) and not behind:
                    continue
                # A call is known by the end of the one before: eager ops may come in front of it.
                seen = key, span.call, events.executions.interval(span)[0] if span.call else float(span.first)
                start = self._seen.get(seen, 0)
                run = read_run(events, place)
                if len(run.tensors) > start or seen not in self._seen:
                    self._seen[seen] = len(run.tensors)
                    self._reached[key] = place
                    yield Growth(before + place, run, 0 if joined else start)  # its tensors lie between the others
            before += len(events.spans)
