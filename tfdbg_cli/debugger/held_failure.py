"""A run that failed under a watch while nobody is there: it is shown once its exception has ended the program."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from tfdbg_cli.analysis.watch.kept_runs import values_size
from tfdbg_cli.capture.stores import in_memory, lies_in_files
from tfdbg_cli.debugger.active_watch import ActiveWatch
from tfdbg_cli.model.runs import Run, RunEnd

# Runs that the thread may begin before the failed one is forgotten: on its way out an exception leaves `finally` and
# `with`, which may save or close something.
_MOST_BEHIND = 8


class HeldFailure:
    """At most one run, with the watch in which it failed.

    Whether the program catches an exception can be told only later. A prompt that somebody sits at opens at once; the
    commands of `-c`, a bundle and whoever is waited for are better kept for what ends the program: `postpones` says
    so.
    """

    def __init__(self, postpones: Callable[[], bool]) -> None:
        self._postpones = postpones
        self._held: tuple[ActiveWatch, Run] | None = None
        self._thread = 0
        self._behind = 0
        self._has_said = False

    def __bool__(self) -> bool:
        return self._held is not None

    def takes(self, watch: ActiveWatch, run: Run) -> bool:
        """Whether `run`, which failed in this thread, is held now, in the place of one from before.

        Values in a dump, which is deleted when the run is over, are taken into memory, as far as there is room.
        """
        if not self._postpones() or (lies_in_files(run) and values_size(run) > watch.room):
            return False
        self._held, self._thread, self._behind = (watch, in_memory(run)), threading.get_ident(), 0
        return True

    def another_begins(self, say: Callable[[str], None]) -> None:
        """Forget the run once the program has so clearly gone on; of the first one that is said."""
        held = self._held
        if held is None or threading.get_ident() != self._thread:
            return
        self._behind += 1
        if self._behind <= _MOST_BEHIND:
            return
        self._held = None
        if not self._has_said:
            self._has_said = True
            say(f"{_failed(held[1])}, which the program caught: the watch goes on. Of later ones nothing is said.")

    def end(self, ended: Run | None) -> RunEnd | None:
        """The stop at the run, which is held no longer; None if `ended`, which ended the program, is another failure.

        `ended` is None where the program has caught the exception, and ended by itself.
        """
        held, self._held = self._held, None
        if held is None:
            return None
        watch, run = held
        if ended is None:
            assert run.error is not None
            return watch.end(replace(run, error=replace(run.error, caught=True)), None)
        ours, theirs = run.error, ended.error
        if ours is None or theirs is None or (ours.type_name, ours.message) != (theirs.type_name, theirs.message):
            return None
        run = replace(run, error=replace(ours, causes=theirs.causes))
        end = watch.end(run, None)
        return replace(end, notes=(*ended.notes[:1], *end.notes), frames=tuple(ended.frames))

    def end_of_thread(self, ended: Run | None) -> RunEnd | None:
        """As `end`, of what has `ended` this thread; another thread's failure is still held."""
        return self.end(ended) if threading.get_ident() == self._thread else None

    def forget(self) -> str:
        """Hold nothing; a sentence on what was held, or ""."""
        held, self._held = self._held, None
        return "" if held is None else f"{_failed(held[1])}, which the program caught."


def _failed(run: Run) -> str:
    assert run.error is not None
    return f"Run #{run.call.number} failed with {run.error.type_name}"
