"""Threads that wait for what somebody types while the screen is up."""

from __future__ import annotations

import os
import platform
import select
import sys
import threading
import time
from collections.abc import Callable

import pytest

from tfdbg_cli.tui.terminal.other_readers import readers_of, warning_of

_KNOWN = sys.platform == "linux" and platform.machine() in {"x86_64", "aarch64"}
_PATIENCE = 20.0  # seconds


def _found(descriptor: int) -> list[str]:
    """The readers, as soon as there is one: a thread takes its time to get there."""
    end = time.monotonic() + _PATIENCE
    while not (names := readers_of(descriptor)) and time.monotonic() < end:
        time.sleep(0.01)
    return names


@pytest.mark.skipif(not _KNOWN, reason="only Linux tells what threads wait for")
@pytest.mark.parametrize(
    "wait", [lambda fd: os.read(fd, 1), lambda fd: select.select([fd], [], [])], ids=["read", "select"]
)
def test_a_thread_that_waits_for_input_is_named(wait: Callable[[int], object]) -> None:
    read, write = os.pipe()
    thread = threading.Thread(target=wait, args=(read,), name="asks", daemon=True)
    assert readers_of(read) == []
    thread.start()
    try:
        assert _found(read) == ["asks"]
        assert readers_of(write) == []
    finally:
        os.write(write, b"x")
        thread.join()
        os.close(read)
        os.close(write)
    assert readers_of(read) == []


def test_the_warning_names_one_and_counts_several() -> None:
    assert warning_of([]) == ""
    assert warning_of(["MainThread"]) == (
        "The thread MainThread of the program waits for what is typed, too: some keys go there and not to tfdbg."
    )
    assert warning_of(["a", "b"]).startswith("2 threads wait for what is typed, too")
