"""TensorFlow collects the graphs that it makes for all threads at once: meanwhile no other of ours runs an op."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class GraphCollection:
    """Keeps apart, among our threads, what collects graphs and the ops whose graphs must not be among them.

    The graph of an op that another thread runs is added to those of the function that is asked about, and parts them.
    Threads of the program are not held back.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        os.register_at_fork(after_in_child=self._in_child)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """A context that one thread of ours at a time is in."""
        with self._lock:
            yield

    def _in_child(self) -> None:
        self._lock = threading.RLock()  # a thread of the parent may hold the other one for ever


GRAPH_COLLECTION = GraphCollection()
