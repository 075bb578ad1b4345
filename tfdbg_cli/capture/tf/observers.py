"""Who looks at what TensorFlow runs in a thread: tapes, and op callbacks of the program.

Op callbacks (`tf.debugging.enable_check_numerics`, `enable_dump_debug_info`) are called behind each eager op and call
of a function. What tfdbg runs itself is none of theirs: a check of numbers would fail in a run that is made again for
the NaN in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import EagerTensor


@contextmanager
def unobserved() -> Iterator[None]:
    """A context for ops of ours: in this thread no tape records them, and no op callback sees them."""
    here = compat.thread_data(compat.eager_context())
    callbacks, here.op_callbacks = here.op_callbacks, []
    try:
        with compat.not_recording():
            yield
    finally:
        here.op_callbacks = callbacks


@contextmanager
def own_ops() -> Iterator[None]:
    """A context for what tfdbg has TensorFlow run: nothing in this thread intercepts, records or sees it."""
    with INSIDE, unobserved():
        yield


def observed(name: str, inputs: Sequence[EagerTensor], outputs: Sequence[EagerTensor]) -> None:
    """Show the op callbacks of this thread a call of the function `name` that was made unobserved in its place.

    Raises what they raise, as TensorFlow does: to raise is how they say that a number is bad.
    """
    eager = compat.eager_context()
    for callback in eager.op_callbacks:
        callback(name, tuple(inputs), compat.call_options(eager), list(outputs), None)
