"""Threads of the program that wait for what somebody types, while the screen waits for it as well.

The terminal gives each key to one of both, and what a thread waits for cannot be taken from it.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Mapping
from pathlib import Path

from tfdbg_cli.process.own_threads import all_threads

_TASKS = Path("/proc/self/task")  # of Linux; elsewhere nothing is known
# The numbers of the system calls in which `input()` and `sys.stdin.readline()` wait: of read, and of what readline
# waits with (select, pselect6), by the name of the processor (syscall_64.tbl, asm-generic/unistd.h).
_READ: Mapping[str, int] = {"x86_64": 0, "aarch64": 63}
_SELECT: Mapping[str, frozenset[int]] = {"x86_64": frozenset({23, 270}), "aarch64": frozenset({72})}


def readers_of(descriptor: int) -> list[str]:
    """The names of the other threads that wait for something to read from `descriptor`, as far as Linux tells."""
    # Of a process that was forked Python may still have the number that its main thread had before.
    names = {one.native_id: one.name for one in all_threads()} | {os.getpid(): threading.main_thread().name}
    here = threading.get_native_id()
    try:
        tasks = [int(one.name) for one in _TASKS.iterdir()]
    except OSError:
        return []
    return [names.get(task, str(task)) for task in tasks if task != here and _reads(task, descriptor)]


def _reads(task: int, descriptor: int) -> bool:
    processor = platform.machine()
    try:
        words = (_TASKS / str(task) / "syscall").read_text().split()
        call, first = int(words[0]), int(words[1], 16)
    except (OSError, ValueError, IndexError):  # it runs, it is over, or nobody may know
        return False
    if call == _READ.get(processor):
        return first == descriptor
    return call in _SELECT.get(processor, ()) and first == descriptor + 1  # how many descriptors are asked


def warning_of(names: list[str]) -> str:
    """A sentence about threads that read what is typed; empty for none."""
    if not names:
        return ""
    thread = f"The thread {names[0]} of the program waits" if len(names) == 1 else f"{len(names)} threads wait"
    return f"{thread} for what is typed, too: some keys go there and not to tfdbg."
