"""Work that a second thread does while TensorFlow compiles in the first."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.second_thread import Beside


def test_the_work_is_done_in_another_thread_within_tfdbg() -> None:
    beside = Beside(lambda: (threading.current_thread(), INSIDE.holds()))
    beside.wait()
    thread, inside = beside.result()
    assert thread is not threading.current_thread()
    assert inside
    assert not INSIDE.holds()


def test_what_the_work_raises_comes_where_its_result_is_asked_for() -> None:
    error = LookupError("gone")

    def fail() -> None:
        raise error

    beside = Beside(fail)
    beside.wait()
    with pytest.raises(LookupError) as raised:
        beside.result()
    assert raised.value is error


def test_where_no_thread_can_be_started_the_work_is_done_when_it_is_asked_for(monkeypatch: Any) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    beside = Beside(threading.current_thread)
    beside.wait()
    assert beside.result() is threading.current_thread()
