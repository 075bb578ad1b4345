"""A run that has ended, and whether the prompt is to open behind it."""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_cli.debugger.active_watch import SIGNALS, ActiveWatch
from tfdbg_cli.model.runs import Hit, Run, RunEnd


@dataclass(frozen=True, slots=True)
class EndedRun:
    """`run` with all that may be a reason to stop behind it.

    It counts for the watch `watching`, which found `hit` in it, if anything. `for_stop` says that it was captured for
    the prompt to open behind it, and `asked` who asked for the prompt meanwhile (Ctrl-C, another worker): empty if
    nobody did.
    """

    run: Run
    watching: ActiveWatch | None
    hit: Hit | None
    for_stop: bool
    asked: str

    @property
    def stops(self) -> bool:
        """Whether the prompt opens behind it."""
        return self._is_wanted or self._failed

    @property
    def only_failed(self) -> bool:
        """Whether nothing but its failure is a reason to stop."""
        return self._failed and not self._is_wanted

    def stop(self) -> RunEnd:
        """The stop behind it. A watch does then what it does at its end: it writes a bundle, and undoes updates."""
        if self.watching is None:
            return RunEnd(self.run, self.hit)
        return self.watching.end(self.run, self.hit, self.asked)

    @property
    def _is_wanted(self) -> bool:
        return self.for_stop or self.hit is not None or bool(self.asked)

    @property
    def _failed(self) -> bool:
        """Whether it failed; that data have ended, or a worker is gone, counts only where the prompt waits for it."""
        error = self.run.error
        return error is not None and (self.for_stop or error.type_name not in SIGNALS)
