"""Tells which runs of a session overlap: then a variable may hold what another run wrote."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cached_property

from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import RawSession
from tfdbg_cli.process.interruptions import our_errors


class OverlappingRun:
    """One run, and what else was run of its session at some time while it was under way.

    `kind` tells what is equal for calls that do the same; it is asked once, if any other run is under way.
    """

    def __init__(self, invocation: Invocation, kind: Callable[[Invocation], Hashable]) -> None:
        self.invocation = invocation
        self._kind = kind
        self._met: dict[Hashable, Invocation] = {}  # one of each kind; a chain of the runs themselves would never end

    @cached_property
    def kind(self) -> Hashable:
        """Of which kind it is; None where that is not known."""
        try:
            return self._kind(self.invocation)
        except our_errors():  # a call that is wrong, of which the program hears by its own run
            return None

    def meets(self, other: OverlappingRun) -> None:
        """Note that `other` is under way, too."""
        self._met.setdefault(other.kind, other.invocation)

    def met_none_but(self, harmless: Callable[[Invocation], bool]) -> bool:
        """Whether all other runs that were under way meanwhile are known, and `harmless`."""
        return None not in self._met and all(map(harmless, list(self._met.values())))


class Traffic:
    """The runs of one session that are under way."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # again by a signal handler that makes a run
        self._under_way: dict[OverlappingRun, int] = {}  # with the thread that makes each, the last one begun last

    @contextmanager
    def run(self, invocation: Invocation, kind: Callable[[Invocation], Hashable]) -> Iterator[OverlappingRun]:
        """A context in which `invocation` is under way, for `kind` see `OverlappingRun`."""
        own = OverlappingRun(invocation, kind)
        try:
            self._begin(own)
            yield own
        finally:
            with self._lock:
                self._under_way.pop(own, None)

    def _begin(self, own: OverlappingRun) -> None:
        with self._lock:
            others = list(self._under_way)
            self._under_way[own] = threading.get_ident()
        for other in others:
            own.meets(other)
            other.meets(own)

    @property
    def own(self) -> OverlappingRun | None:
        """The innermost run that is under way in this thread."""
        thread = threading.get_ident()
        with self._lock:
            under_way = list(self._under_way.items())
        return next((run for run, its in reversed(under_way) if its == thread), None)

    @property
    def alone(self) -> bool:
        """Whether one run is under way now, and no other."""
        with self._lock:
            return len(self._under_way) == 1


_TRAFFIC = Memo(lambda session: Traffic())


def traffic_of(session: RawSession) -> Traffic:
    """The traffic of `session`."""
    return _TRAFFIC.of(session)
