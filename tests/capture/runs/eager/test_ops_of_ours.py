"""Ops that the debugger runs for itself: they are not looked at, and cost next to nothing; those of Python code that
a function calls are the program's all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.runs.eager import watch as eager_watch
from tfdbg_cli.capture.runs.eager.program.stacks import is_under
from tfdbg_cli.capture.runs.eager.watch import EagerWatch
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.debugger.debugger import Debugger

pytestmark = pytest.mark.tf


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How far above each stack began that was taken."""
    taken: list[int] = []
    known = eager_watch.stack_here
    monkeypatch.setattr(eager_watch, "stack_here", lambda depth, under: (taken.append(depth), known(depth, under))[1])
    return taken


def _begins() -> Callable[[], Any]:
    watch = EagerWatch(Debugger(ScriptedFrontend))
    return lambda: watch.begins("AddV2", ())


def test_no_stack_is_taken_for_an_op_of_ours(stacks: list[int]) -> None:
    begins = _begins()
    with INSIDE:
        assert begins() is None
    assert not stacks
    begins()
    assert stacks


def test_an_op_in_python_code_that_a_function_calls_is_the_programs(stacks: list[int]) -> None:
    begins = _begins()

    def called(x: Any) -> Any:
        begins()
        return x + 1

    with INSIDE:
        tf.py_function(called, [1.0], tf.float32)
    assert stacks


def test_a_call_knows_what_it_is_under() -> None:
    def inner() -> tuple[bool, bool]:
        return is_under(outer.__code__), is_under(_begins.__code__)

    def outer() -> tuple[bool, bool]:
        return inner()

    assert outer() == (True, False)
    assert inner() == (False, False)
