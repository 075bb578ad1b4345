"""Work that is done in a second thread: beside what TensorFlow does in the first, or apart from its signal handlers.

TensorFlow's compiler needs no Python, and for a large function it takes seconds. Signal handlers of the program's run
in its main thread: a lock that another one holds is let go of while they wait for it, and a graph that is built there
is none that they build in.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.process.own_threads import OwnThread

T = TypeVar("T")


def apart(work: Callable[[], T]) -> T:
    """What `work` gives, which signal handlers of the program's do not interrupt: they run in the main thread alone.

    For what builds a graph, or has TensorFlow make sessions wait. Raises what the work raises, or, once that is done,
    what such a handler raised meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        with INSIDE:
            return work()
    beside = SecondThread(work)
    try:
        return beside.result()
    finally:
        beside.wait()


class SecondThread(Generic[T]):
    """`work`, begun in a thread of its own; what it runs of TensorFlow's is none of the program's calls."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._found: list[T] = []
        self._error: BaseException | None = None
        # Python takes a thread for one that has ended, once a signal handler has raised in its `join`; and an Event
        # that it waits for is broken by that. A lock is either taken or not.
        self._over = threading.Lock()
        self._over.acquire()
        self._is_over = False
        self._gate = threading.Lock()  # taken by whoever sets one of these two
        self._begun = self._unwanted = False
        self._thread: OwnThread | None = OwnThread(target=self._do, name="tfdbg-beside")
        try:
            self._thread.start()
        except RuntimeError:  # no thread is to be had any more, as when the program ends: `result` does the work
            self._thread = None
        except BaseException:  # of a signal handler; the thread may be there or not
            with self._gate:
                self._unwanted = not self._begun
            if self._begun:
                self.wait()
            raise

    def wait(self) -> None:
        """Wait until it is done, or failed."""
        if self._thread is not None and not self._is_over:
            with self._over:
                pass

    def result(self) -> T:
        """What the work gave. Raises what it raised."""
        if self._thread is None:
            return self._work()
        self.wait()
        if self._error is not None:
            raise self._error
        return self._found[0]

    def _do(self) -> None:
        with self._gate:
            self._begun = not self._unwanted
        if self._unwanted:
            return
        try:
            with INSIDE:
                self._found.append(self._work())
        except BaseException as error:  # noqa: BLE001  # raised where the result is asked for
            self._error = error
        finally:
            self._is_over = True
            self._over.release()
