"""A second thread in which TensorFlow does what it would do in this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.second_thread import apart

T = TypeVar("T")

_SETTINGS = ("is_eager", "device_name", "device_spec", "function_call_options")


@contextmanager
def _synchronous(eager: Any) -> Iterator[None]:
    """A context in which ops of this thread are done one by one, each before the next line of Python.

    A program may have them done later: an op that fails then fails all those that wait, the program's too.
    """
    if tf.config.experimental.get_synchronous_execution():
        yield
        return
    before = eager.executor
    tf.config.experimental.set_synchronous_execution(True)
    try:
        yield
    finally:
        eager.executor = before


def own_ops_apart(work: Callable[[], T]) -> T:
    """What `work` gives, which has TensorFlow run ops of ours that no signal handler of the program's interrupts.

    For a call that fails by design. TensorFlow makes the Python object of the error amid its native code: a handler
    that was waiting for that code runs there, and what it raises is lost before Python 3.12 (see
    `process/lost_exception.py`). The
    work is done by the devices and the options of calls that this thread has set. Raises as `apart` does.
    """
    eager = compat.eager_context()
    here = compat.thread_data(eager)
    settings = {name: getattr(here, name) for name in _SETTINGS}

    def alike() -> T:
        there = compat.thread_data(eager)
        before = {name: getattr(there, name) for name in _SETTINGS}
        try:
            for name, value in settings.items():
                setattr(there, name, value)
            with own_ops(), _synchronous(eager):
                return work()
        finally:
            for name, value in before.items():
                setattr(there, name, value)

    with INSIDE:  # what a handler runs of TensorFlow's meanwhile is looked at by nobody: the caller may hold a lock
        return apart(alike)
