"""Calls with thousands of writes to one variable: whether they have an order is found without a look at each pair."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest
import tensorflow as tf

from tfdbg_cli.capture.sessions import unordered
from tfdbg_cli.capture.sessions.call_state import call_state
from tfdbg_cli.capture.sessions.reach import reach

pytestmark = pytest.mark.tf
v1 = tf.compat.v1


def _asked(writes: int, free: int | None = None) -> tuple[str, int]:
    """What so many writes, each behind the last, use in no fixed order, and the instructions of Python to find it.

    The write at `free` is behind none, and nothing waits for it.
    """
    with tf.Graph().as_default() as graph:
        variable = v1.get_variable("v", [], use_resource=True)
        last: list[tf.Operation] = []
        made: list[tf.Operation] = []
        for at in range(writes):
            with tf.control_dependencies([] if at == free else last):
                made.append(v1.assign_add(variable, 1.0).op)
            last = last if at == free else made[-1:]
        reached = reach(graph, made, ())
    done = 0

    def counted(frame: FrameType, event: str, _given: Any) -> Any:
        nonlocal done
        if frame.f_code.co_filename != unordered.__file__:
            return None
        frame.f_trace_opcodes = True
        done += event == "opcode"
        return counted

    traced = sys.gettrace()
    sys.settrace(counted)
    try:
        state = call_state(reached.ops, reached.fetchable, frozenset(), made)
    finally:
        sys.settrace(traced)
    return state.unordered, done


def test_twice_the_writes_take_twice_the_work() -> None:
    """A blind test: each pair of writes was asked, with a set of names for each write."""
    (few, less), (many, more) = _asked(50), _asked(100)
    assert (few, many) == ("", "")
    assert more < 2.5 * less


@pytest.mark.parametrize("free", [0, 1, 20, 39])
def test_one_write_of_many_whose_order_is_open_is_found(free: int) -> None:
    assert _asked(40, free)[0] == "v"
