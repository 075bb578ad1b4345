"""Front ends in the place of a person: one has every run captured, one watches and goes on behind every hit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.decision import DebugRun, Decision, RunUntil, Values
from tfdbg_cli.model.runs import RunEnd, Stop


class Front:
    """Decides the same at every stop, and keeps what was said of runs that may not be exact."""

    failures = 0
    broken = False

    def __init__(self, decision: Decision) -> None:
        self.settings = Settings()
        self.count = 0  # runs that were shown
        self.hits = 0
        self.judged = 0  # of the runs that were shown, those of which it was said how exact they are
        self.inexact: list[str] = []  # what was said of those that may differ
        self.told: list[str] = []
        self.seen = ""  # what a watch that is still on says of all its runs
        self._decision = decision

    def stop(self, event: Stop) -> Decision:
        if isinstance(event, RunEnd):
            self.count += 1
            self.hits += event.hit is not None
            exactness = event.run.exactness
            if exactness is not None:
                self.judged += 1
                if not exactness.exact:
                    self.inexact.append(f"run #{event.run.call.number}: {exactness.sentence}")
        return self._decision

    def notify(self, message: str) -> None:
        self.told.append(message)

    @property
    def said(self) -> str:
        """The first thing that was said about a run that may not be exact; empty if nothing was."""
        return next(iter([*self.inexact, *filter(_of_exactness, [*self.told, self.seen])]), "")

    @property
    def complained(self) -> str:
        """The first thing that was said beside that; empty if nothing was."""
        return next((message for message in self.told if not _of_exactness(message)), "")


def _of_exactness(message: str) -> bool:
    return "exact" in message.lower()


def capturing(values: Values = Values.AUTO) -> Front:
    """A front end that has every run captured."""
    return Front(DebugRun(force=True, values=values))


def watching(filter_name: str = "has_inf_or_nan", values: Values = Values.AUTO) -> Front:
    """A front end that watches from the first run on, and behind a hit again."""
    return Front(RunUntil(filter_name, force=True, values=values))


@contextmanager
def debugged(front: Front) -> Iterator[Front]:
    """The whole process debugged by the public way, with `front` in the place of a person."""
    from tfdbg_cli.api import process, process_debugger
    from tfdbg_cli.capture import failures

    def printed(text: str, **how: Any) -> None:
        print(text, **how)
        if text.startswith("tfdbg: could not"):
            front.told.append(text)

    process_debugger.process_debugger.cache_clear()
    with (
        mock.patch.object(process_debugger, "choose_frontend", lambda *_, **__: front),
        mock.patch.object(failures, "print", printed, create=True),
    ):
        try:
            with process.debugging():
                yield front
                watch = process_debugger.process_debugger().debugger.active_watch
                front.seen = "" if watch is None else watch.seen_in_words(0)
        finally:
            process_debugger.process_debugger.cache_clear()
