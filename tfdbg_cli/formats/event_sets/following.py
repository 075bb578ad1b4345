"""Event sets that are still being written: what came since one looked last."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tfdbg_cli.formats.event_sets.event_set import EventSet
from tfdbg_cli.formats.event_sets.executions import RunSpan
from tfdbg_cli.formats.event_sets.listing import event_sets
from tfdbg_cli.formats.event_sets.reader import read_run
from tfdbg_cli.formats.recording.format import NamedPath
from tfdbg_cli.model.runs import Run

_LOOKED_AGAIN = 1000  # runs before the last that may grow, where the traces do not tell that they are over


class Growth(NamedTuple):
    """A run that is new, or that grew (`more`): its place in the recording, its tensors from `start` to before `end`.

    With `early` it is what graphs did in calls that are not recorded yet: they will be runs from this place on.
    """

    place: int
    run: Run
    start: int
    end: int
    more: bool = False
    early: bool = False


class FollowedFolder:
    """A folder that sets are written into. A run is told once its call is, and eager ops as they come.

    TensorFlow writes what graphs made and what was executed to two files, some records at a time, and either may be
    ahead of the other. What graphs made in a call that was told, and that comes later, is told as more of that run.
    What they made behind the last call is told at once where no call will come, as in sessions. Else it is told when
    asked for, as the call may only not be written yet; what was told is not told again with it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sets: dict[str, EventSet] = {}
        # What was told: of a run, by its set and its first execution, how many tensors but for the results of a call.
        self._told: dict[tuple[str, int, bool], int] = {}
        self._ahead: dict[str, int] = {}  # by set, how many of the tensors behind its last call
        self._reached: dict[str, int] = {}  # by set, the first run that may still grow

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
            if joined:  # it may have made tensors in every run, which lie between those of the others
                self._reached[key] = self._ahead[key] = 0
            for growth in self._of_set(key, events, joined=joined, behind=behind):
                yield growth._replace(place=before + growth.place)
            before += len(events.spans)

    def _of_set(self, key: str, events: EventSet, *, joined: bool, behind: bool) -> Iterator[Growth]:
        """What came of the set with that key; places are those in the set. Where a host `joined`, runs are whole."""
        over = True
        for place in range(self._reached.get(key, 0), len(events.spans)):
            span = events.spans[place]
            if span.is_open:
                yield from self._behind_the_calls(key, events, place, asked=behind)
                return
            over = over and events.is_over(span)
            if over or place - self._reached.get(key, 0) > _LOOKED_AGAIN:
                self._reached[key] = place
            made, seen = events.count(span), (key, span.first, span.call)
            told = self._told.get(seen)
            if told is not None and made <= told:
                continue
            self._told[seen] = made
            run = read_run(events, place)
            if told is None or joined:
                yield Growth(place, run, self._of_ahead(key, span, made), len(run.tensors), more=told is not None)
            else:  # the results of a call stand behind what its graphs made, and were told
                yield Growth(place, run, told, made, more=True)

    def _behind_the_calls(self, key: str, events: EventSet, place: int, *, asked: bool) -> Iterator[Growth]:
        """What came behind the last call of the set; where its call may come only if it is `asked` for."""
        span, start = events.spans[place], self._ahead.get(key, 0)
        early = events.awaits_calls(span)
        if early and not asked:
            return
        run = read_run(events, place)
        end = len(run.tensors)
        if end > start:
            self._ahead[key] = end
            yield Growth(place, run, start, end, more=start > 0, early=early)

    def _of_ahead(self, key: str, span: RunSpan, made: int) -> int:
        """How many of the tensors that graphs `made` in the run of `span` were yielded early.

        That is while the call of the run was not recorded yet (`_behind_the_calls`): they are not yielded once more.
        """
        ahead = self._ahead.get(key, 0) if span.call else 0
        start = min(ahead, made)
        self._ahead[key] = self._ahead.get(key, 0) - start
        return start
