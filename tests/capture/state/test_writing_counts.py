"""What is known of the threads that write variables; no TensorFlow."""

from __future__ import annotations

import threading

from tfdbg_cli.capture.state.writing_threads import WritingThreads


def _elsewhere(*calls: object) -> None:
    thread = threading.Thread(target=lambda: [call() for call in calls])  # type: ignore[operator]
    thread.start()
    thread.join()


def test_what_a_thread_writes_itself_is_no_disturbance() -> None:
    threads = WritingThreads()
    moment = threads.now()
    threads.begin()
    threads.wrote()
    threads.end()
    assert threads.quiet_since(moment)


def test_what_another_thread_wrote_is_one_until_the_next_moment() -> None:
    threads = WritingThreads()
    moment = threads.now()
    _elsewhere(threads.wrote)
    assert not threads.quiet_since(moment)
    assert threads.quiet_since(threads.now())
    moment = threads.now()
    _elsewhere(threads.begin, threads.end)
    assert not threads.quiet_since(moment)


def test_a_call_under_way_disturbs_from_its_beginning_to_its_end() -> None:
    threads = WritingThreads()
    begun, over = threading.Event(), threading.Event()

    def call() -> None:
        threads.begin()
        begun.set()
        over.wait()
        threads.end()

    thread = threading.Thread(target=call)
    thread.start()
    begun.wait()
    moment = threads.now()
    assert not threads.quiet_since(moment), "it began before, and may write at any time"
    over.set()
    thread.join()
    assert not threads.quiet_since(moment), "it may have written"
    assert threads.quiet_since(threads.now())


def test_while_variables_are_put_right_no_other_thread_begins_a_call() -> None:
    threads = WritingThreads()
    begun = threading.Event()

    def call() -> None:
        threads.begin()
        begun.set()
        threads.end()

    thread = threading.Thread(target=call)
    with threads.halted_since(threads.now()) as quiet:
        assert quiet
        thread.start()
        assert not begun.wait(0.1)
        threads.begin()  # this thread is not held up by itself
        threads.end()
    thread.join()
    assert begun.is_set()
    moment = threads.now()
    _elsewhere(threads.wrote)
    with threads.halted_since(moment) as quiet:
        assert not quiet
