"""Work that a second thread does while TensorFlow compiles in the first."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

import pytest

from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.second_thread import SecondThread, apart


def _signal_the_program() -> None:
    """As the kernel does it: a signal to another thread would not wake the main one, which waits."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)


def test_the_work_is_done_in_another_thread_within_tfdbg() -> None:
    beside = SecondThread(lambda: (threading.current_thread(), INSIDE.holds()))
    beside.wait()
    thread, inside = beside.result()
    assert thread is not threading.current_thread()
    assert inside
    assert not INSIDE.holds()


def test_what_the_work_raises_comes_where_its_result_is_asked_for() -> None:
    error = LookupError("gone")

    def fail() -> None:
        raise error

    beside = SecondThread(fail)
    beside.wait()
    with pytest.raises(LookupError) as raised:
        beside.result()
    assert raised.value is error


def test_where_no_thread_can_be_started_the_work_is_done_when_it_is_asked_for(monkeypatch: Any) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    beside = SecondThread(threading.current_thread)
    beside.wait()
    assert beside.result() is threading.current_thread()


def test_what_is_done_apart_is_done_where_no_signal_handler_runs() -> None:
    """A blind test: a handler of the program built in the graph that was built there."""
    seen: list[int] = []

    def work() -> threading.Thread:
        _signal_the_program()
        return threading.current_thread()

    before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(threading.get_ident()))
    try:
        done_by = apart(work)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert done_by is not threading.main_thread()
    assert seen == [threading.main_thread().ident]


def test_it_is_over_where_a_signal_handler_raises_meanwhile() -> None:
    done, going_on = threading.Event(), threading.Event()

    def work() -> None:
        _signal_the_program()
        going_on.wait()
        done.set()

    def handle(number: int, frame: FrameType | None) -> None:
        going_on.set()
        raise LookupError

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        with pytest.raises(LookupError):
            apart(work)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert done.is_set()


def test_in_another_thread_than_the_main_one_it_is_done_there() -> None:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(apart(threading.current_thread) is thread))
    thread.start()
    thread.join()
    assert found == [True]
