"""Ops of ours that fail by design, in a second thread: the program's own are not among those that fail."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.optimized import compiled
from tfdbg_cli.capture.tf.thread_alike import own_ops_apart

pytestmark = pytest.mark.tf


@pytest.fixture
def later() -> Iterator[None]:
    """A program whose eager ops are done later than its lines of Python."""
    tf.config.experimental.set_synchronous_execution(False)
    yield
    tf.config.experimental.set_synchronous_execution(True)


def test_in_a_program_whose_ops_are_done_later_ours_are_done_at_once(later: None) -> None:
    before = threading.get_ident()
    thread, at_once = own_ops_apart(
        lambda: (threading.get_ident(), tf.config.experimental.get_synchronous_execution())
    )
    assert thread != before and at_once
    assert not tf.config.experimental.get_synchronous_execution()


def test_a_call_of_ours_that_is_cancelled_cancels_nothing_of_such_a_program(later: None) -> None:
    """A blind test: a training with `set_synchronous_execution(False)` ended by a CancelledError, or hung."""
    total = tf.constant(1.0)
    for _ in range(3):
        assert compiled._cancelled_calls_do_nothing.__wrapped__()
        total = total + 1.0
    assert total.numpy() == 4.0
