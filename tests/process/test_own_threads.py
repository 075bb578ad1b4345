"""Which threads keep a program alive: its own, and not those of tfdbg that Python waits for as well."""

from __future__ import annotations

import ast
import os
import threading
from collections.abc import Callable
from typing import Any

import pytest
from support.package_source import modules

from tfdbg_cli.api.screen_beside import _Loading
from tfdbg_cli.capture.tf.second_thread import SecondThread
from tfdbg_cli.process import own_threads
from tfdbg_cli.process.own_threads import OwnThread, threads_go_on

_LONG = 60.0  # seconds, of which none passes where all is well


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves the threads out that earlier tests of this process began."""
    real, earlier = own_threads.all_threads, set(own_threads.all_threads())
    monkeypatch.setattr(own_threads, "all_threads", lambda: [one for one in real() if one not in earlier])


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


def test_the_program_does_not_see_threads_of_tfdbg() -> None:
    """A blind test: a program that joined all threads, or waited until there is one, hung under `--record`."""
    before, plain = threading.active_count(), (threading.enumerate, threading.active_count)
    goes_on, seen = threading.Event(), threading.Event()
    threads = [OwnThread(target=lambda: seen.set() or goes_on.wait(_LONG), daemon=daemon) for daemon in (True, False)]
    theirs = threading.Thread(target=goes_on.wait, args=(_LONG,))
    for one in (*threads, theirs):
        one.start()
    assert seen.wait(_LONG)
    try:
        told = threading.enumerate()
        assert theirs in told and not set(threads) & set(told)
        assert threading.active_count() == len(told) == before + 1
        assert set(threads) <= set(own_threads.all_threads())
    finally:
        goes_on.set()
        for one in (*threads, theirs):
            one.join()
    assert (threading.enumerate, threading.active_count) == plain, "all is as it was"


def test_a_thread_whose_beginning_a_signal_handler_interrupts_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's program: Python printed a KeyError of its own, `Exception ignored in thread started by`."""
    begins = "_start_joinable_thread" if hasattr(threading, "_start_joinable_thread") else "_start_new_thread"
    plain, forgotten, over, said = getattr(threading, begins), threading.Event(), threading.Event(), list[object]()

    def interrupted(bootstrap: Callable[[], None], *arguments: Any, **keywords: Any) -> Any:
        def later() -> None:
            forgotten.wait(_LONG)
            try:
                bootstrap()
            except KeyError as error:
                said.append(error)
            over.set()

        plain(later, *arguments, **keywords)
        raise InterruptedError  # as of a handler, when the thread is there

    monkeypatch.setattr(threading, begins, interrupted)
    done: list[bool] = []
    with pytest.raises(InterruptedError):
        SecondThread(lambda: done.append(True))
    forgotten.set()
    assert over.wait(_LONG)
    assert (said, done) == ([], [])


def test_a_thread_that_cannot_be_started_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = threading.enumerate

    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError, match="can't start"):
        OwnThread(target=print).start()
    assert threading.enumerate is plain


def test_what_the_program_put_in_the_place_of_ours_stays() -> None:
    plain, goes_on = threading.enumerate, threading.Event()
    thread = OwnThread(target=goes_on.wait, args=(_LONG,))
    thread.start()
    ours = threading.enumerate
    theirs = lambda: ours()  # noqa: E731
    threading.enumerate = theirs
    try:
        goes_on.set()
        thread.join()
        assert threading.enumerate is theirs
        assert threading.current_thread() in theirs()
    finally:
        threading.enumerate = ours
    later = OwnThread(target=print)
    later.start()
    later.join()
    assert threading.enumerate is plain, "put back behind the next one"


def test_tracers_of_the_program_do_not_follow_them() -> None:
    traced: list[str] = []
    threading.setprofile(lambda frame, event, arg: traced.append(frame.f_code.co_name))
    try:
        thread = OwnThread(target=_known)
        thread.start()
        thread.join()
    finally:
        threading.setprofile(None)
    assert "_known" not in traced


def _known() -> None:
    """What a tracer would tell of."""


def test_a_child_that_is_forked_sees_what_python_tells() -> None:
    # Threads of earlier tests may be hidden, too: in the child there is none.
    plain, goes_on = getattr(threading.enumerate, "__wrapped__", threading.enumerate), threading.Event()
    thread = OwnThread(target=goes_on.wait, args=(_LONG,), daemon=True)
    thread.start()
    try:
        child = os.fork()
        if not child:
            os._exit(0 if threading.enumerate is plain and threading.active_count() == 1 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        goes_on.set()
        thread.join()


def test_no_thread_of_tfdbg_is_another() -> None:
    calls = [
        place
        for module in modules()
        if module.layer != "examples"
        for node in module.nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("threading.Thread", "threading.Timer", "Thread")
        for place in [f"{module.where}:{node.lineno}"]
    ]
    assert not calls, "the program would see it: take OwnThread"
