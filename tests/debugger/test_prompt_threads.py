"""Which threads come to the prompt."""

from __future__ import annotations

import threading

import pytest

from tfdbg_cli.debugger.prompt_threads import PromptThreads, at_prompt, terminal


def _included(threads: PromptThreads, name: str) -> bool:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(threads.include_this()), name=name)
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize(
    ("pattern", "name", "included"),
    [
        (None, "MainThread", True),
        (None, "QueueRunnerThread-input-1", False),
        (None, "Dummy-7", False),
        ("Train", "Trainer-1", True),
        ("Train", "MainThread", False),
        ("Queue", "QueueRunnerThread-input-1", True),
    ],
)
def test_by_the_name_of_the_thread(pattern: str | None, name: str, included: bool) -> None:
    assert _included(PromptThreads(pattern), name) is included


def test_runs_made_at_the_prompt_are_counted_and_those_that_only_supply_input_are_not() -> None:
    found: list[tuple[bool, bool]] = []

    def ask() -> None:
        found.append((PromptThreads().counts_this(), PromptThreads().counts_this(found=True)))

    for name in ("QueueRunnerThread-input-1", "Dummy-7", "Worker"):
        thread = threading.Thread(target=ask, name=name)
        thread.start()
        thread.join()
    assert found == [(False, False), (False, True), (True, True)]
    with terminal():
        assert PromptThreads("nobody").counts_this()


def test_what_is_run_while_at_the_prompt_is_left_alone() -> None:
    threads = PromptThreads()
    with terminal():
        assert not threads.include_this()
        with at_prompt():  # a filter that runs something, asked at the prompt
            assert not threads.include_this()
        assert not threads.include_this()
        assert _included(threads, "another")
    assert threads.include_this()


def test_one_thread_at_a_time_has_the_terminal() -> None:
    began, came = threading.Event(), threading.Event()

    def other() -> None:
        began.set()
        with terminal():
            came.set()

    thread = threading.Thread(target=other)
    with terminal():
        thread.start()
        began.wait()
        assert not came.is_set()
    thread.join()
    assert came.is_set()
