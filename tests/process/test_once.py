"""What a process has one of is made once, whoever asks at the same time."""

from __future__ import annotations

import threading

import pytest

from tfdbg_cli.process.once import Once


class _Noticing:
    """A lock that notices who has to wait for it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.waits = threading.Event()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self.waits.set()
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_a_thread_that_asks_while_another_makes_it_waits_for_that() -> None:
    """A blind test: a `functools.cache` makes it twice."""
    lock, made, found = _Noticing(), list[object](), list[object]()

    def ask() -> None:
        found.append(one())

    def make() -> object:
        made.append(object())
        if len(made) == 1:
            other.start()
            lock.waits.wait()  # until the other one waits for us
        else:
            lock.waits.set()
        return made[-1]

    other = threading.Thread(target=ask)
    one = Once(make)
    one._lock = lock  # type: ignore[assignment]
    ask()
    other.join()
    assert len(made) == 1
    assert found == made * 2


def test_who_asks_while_its_own_thread_makes_it_gets_what_all_get() -> None:
    made: list[object] = []

    def make() -> object:
        made.append(mine := object())
        if len(made) == 1:
            assert one() is made[1]  # as a signal handler does
        return mine

    one = Once(make)
    assert one() is made[1]
    assert one() is made[1]


def test_none_is_kept_as_well_and_what_raises_is_not() -> None:
    made: list[int] = []

    def make() -> None:
        made.append(1)
        if len(made) == 1:
            raise KeyError

    one = Once(make)
    with pytest.raises(KeyError):
        one()
    assert one() is None
    assert one() is None
    assert len(made) == 2
    one.cache_clear()
    one()
    assert len(made) == 3
