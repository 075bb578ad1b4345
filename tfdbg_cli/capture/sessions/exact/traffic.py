"""Tells whether runs of a session overlap: then a variable may hold what another run wrote."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import RawSession


class Traffic:
    """The runs of one session that are under way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun = 0
        self._under_way = 0

    @contextmanager
    def run(self) -> Iterator[None]:
        """A context in which a run is under way."""
        with self._lock:
            self._begun += 1
            self._under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1

    @property
    def alone(self) -> int:
        """A number for the run that is under way alone; -1 if none or several are.

        If it is the same at the beginning and at the end of a run, no other run was under way in between.
        """
        with self._lock:
            return self._begun if self._under_way == 1 else -1


_TRAFFIC = Memo(lambda session: Traffic())


def traffic_of(session: RawSession) -> Traffic:
    """The traffic of `session`."""
    return _TRAFFIC.of(session)
