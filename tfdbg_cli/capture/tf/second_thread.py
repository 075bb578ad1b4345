"""Python's part of some work, done in a second thread while TensorFlow compiles in the first.

TensorFlow's compiler needs no Python, and for a large function it takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.process.own_threads import OwnThread

T = TypeVar("T")


class Beside(Generic[T]):
    """`work`, begun in a thread of its own; what it runs of TensorFlow's is none of the program's calls."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._found: list[T] = []
        self._error: BaseException | None = None
        self._thread: OwnThread | None = OwnThread(target=self._do, name="tfdbg-beside")
        try:
            self._thread.start()
        except RuntimeError:  # no thread is to be had any more, as when the program ends: `result` does the work
            self._thread = None

    def wait(self) -> None:
        """Wait until it is done, or failed."""
        if self._thread is not None:
            self._thread.join()

    def result(self) -> T:
        """What the work gave. Raises what it raised."""
        if self._thread is None:
            return self._work()
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found[0]

    def _do(self) -> None:
        try:
            with INSIDE:
                self._found.append(self._work())
        except BaseException as error:  # noqa: BLE001  # raised where the result is asked for
            self._error = error
