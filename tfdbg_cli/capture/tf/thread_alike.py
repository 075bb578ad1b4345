"""A second thread in which TensorFlow does what it would do in this one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.second_thread import apart

T = TypeVar("T")

_SETTINGS = ("is_eager", "device_name", "device_spec", "function_call_options")


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
            with own_ops():
                return work()
        finally:
            for name, value in before.items():
                setattr(there, name, value)

    with INSIDE:  # what a handler runs of TensorFlow's meanwhile is looked at by nobody: the caller may hold a lock
        return apart(alike)
