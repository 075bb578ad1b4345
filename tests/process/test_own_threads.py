"""Which threads keep a program alive: its own, and not those of tfdbg that Python waits for as well."""

from __future__ import annotations

import threading

import pytest

from tfdbg_cli.api.screen_beside import _Loading
from tfdbg_cli.capture.tf.second_thread import SecondThread
from tfdbg_cli.process.own_threads import threads_go_on

_LONG = 60.0  # seconds, of which none passes where all is well


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves the threads out that earlier tests of this process began."""
    real, earlier = threading.enumerate, set(threading.enumerate())
    monkeypatch.setattr(threading, "enumerate", lambda: [thread for thread in real() if thread not in earlier])


@pytest.mark.parametrize("daemon", [False, True])
def test_a_thread_of_the_program_keeps_it_alive_unless_it_is_a_daemon(daemon: bool) -> None:
    goes_on = threading.Event()
    thread = threading.Thread(target=goes_on.wait, args=(_LONG,), daemon=daemon)
    thread.start()
    try:
        assert threads_go_on() is not daemon
    finally:
        goes_on.set()
        thread.join()


def test_threads_of_tfdbg_do_not_keep_it_alive() -> None:
    """A blind test: while the full screen was loaded the last words came only behind the program's traceback."""
    goes_on = threading.Event()
    beside = SecondThread(lambda: goes_on.wait(_LONG))
    loading = _Loading(lambda: bool(goes_on.wait(_LONG)))
    loading.start()
    try:
        assert not threads_go_on()
    finally:
        goes_on.set()
        beside.wait()
        loading.wait()
