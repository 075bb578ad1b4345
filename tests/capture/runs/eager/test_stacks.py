"""Stacks are those of the moment, however they were found."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.runs.eager.log.recent import RecentOps
from tfdbg_cli.capture.runs.eager.program.stacks import (
    Stack,
    callers_known,
    line_at,
    stack_here,
    traceback_of,
    under_here,
)
from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.process import own_frames


def _walked(depth: int) -> Stack:
    """The stack from `depth` calls above this one on, call by call."""
    frame: FrameType | None = sys._getframe(depth)
    found: Stack = []
    while frame is not None:
        found += [frame.f_code, frame.f_lasti]
        frame = frame.f_back
    return found


def _both() -> None:
    """Compare from the caller of this on, whose place is the same for both."""
    assert stack_here(2) == _walked(2)


def _inner() -> None:
    _both()


def test_the_same_call_from_changing_places_has_changing_stacks() -> None:
    """Whatever came behind the stack before the last time."""

    def one() -> None:
        _inner()

    def other() -> None:
        _inner()

    for _ in range(3):
        one()
        other()
        one()
        _inner()
        _inner()
        for called in (one, other, other):
            called()


def test_stacks_of_changing_depth() -> None:
    def deep(levels: int) -> None:
        if levels:
            deep(levels - 1)
        else:
            _both()

    for levels in (5, 3, 5, 0, 3, 3, 8):
        deep(levels)


def test_a_loop_gets_the_same_objects_again() -> None:
    found = [[stack_here(), stack_here()] for _ in range(4)]
    assert all(one is found[0][0] and other is found[0][1] for one, other in found)


def _ours(call: Callable[[], Any]) -> Any:
    with callers_known(0):
        return call()


def test_below_a_call_of_ours_its_callers_are_taken_as_they_were() -> None:
    def within() -> tuple[Stack, int]:
        return stack_here(), len(under_here().last.calls)

    for _ in range(2):
        (stack, looked_at), walked = _ours(within), _walked(1)
        assert looked_at == 1, "the call of `within`; that of ours is left out"
        assert stack[:1] == [within.__code__]
        assert stack[2::2] == walked[::2]
        assert stack[5:] == walked[3:], "but for the place in this function"


def test_the_callers_of_one_call_of_ours_are_not_those_of_the_next() -> None:
    def here() -> Stack:
        return _ours(stack_here)  # type: ignore[no-any-return]

    def elsewhere() -> Stack:
        return _ours(stack_here)  # type: ignore[no-any-return]

    for _ in range(2):
        assert [here()[0], elsewhere()[0]] == [here.__code__, elsewhere.__code__]
    assert _ours(lambda: _ours(here))[0] is here.__code__


def test_a_call_of_ours_that_raises_is_known_no_more() -> None:
    def fails() -> None:
        raise ValueError

    with pytest.raises(ValueError):
        _ours(fails)
    assert under_here().call is None


def test_another_thread_has_callers_of_its_own() -> None:
    found: list[Stack] = []

    def elsewhere() -> None:
        thread = threading.Thread(target=lambda: found.append(stack_here()))
        thread.start()
        thread.join()

    _ours(elsewhere)
    assert elsewhere.__code__ not in found[0]


@pytest.mark.tf
def test_who_started_tfdbg_is_in_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: `ls` listed the script bin/tfdbg, by which the program was run, as a source file of eager ops."""
    monkeypatch.setattr(own_frames, "_starters", set())
    launched, program = (compile("pass", file, "exec") for file in ("/env/bin/tfdbg", "train.py"))
    stack: Stack = [program, 0, launched, 0]
    assert [frame.file for frame in traceback_of(stack)] == ["/env/bin/tfdbg", "train.py"]
    own_frames.started_by(["/env/bin/tfdbg"])
    assert [frame.file for frame in traceback_of(stack)] == ["train.py"]


def test_gradients_have_the_stack_of_the_line_that_asked_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    stacks: list[Stack] = []
    add = RecentOps.add

    def noted(self: RecentOps, op_type: str, *given: Any) -> Any:
        op = add(self, op_type, *given)
        if op_type == "TanhGrad":
            stacks.append(op.stack)
        return op

    monkeypatch.setattr(RecentOps, "add", noted)
    decision = RunUntil("has_inf_or_nan")
    debugger = Debugger(lambda: ScriptedFrontend(decision))
    debugger.attendant = watch = watch_of(debugger)
    debugger.set_watch(decision)
    weight = tf.Variable([[2.0]])
    try:
        for _ in range(3):
            with tf.GradientTape(persistent=True) as tape:
                loss = tf.tanh(weight * 3.0)
                square = loss * loss
            tape.gradient(loss, weight)
            tape.gradient(square, weight)
    finally:
        debugger.attendant = None
        watch.attend(False)
    assert len(stacks) == 6
    lines = [_line(stack) for stack in stacks]
    assert lines[0] + 1 == lines[1]
    assert lines == lines[:2] * 3
    assert all("imperative_grad" in [code.co_name for code in stack[::2]] for stack in stacks)
    assert all("tape" not in [code.co_name for code in stack[::2]] for stack in stacks), "that is ours"


def _line(stack: Stack) -> int:
    """The line at which the test's own call is."""
    at = next(at for at in range(0, len(stack), 2) if stack[at].co_name.startswith("test_gradients"))
    return line_at(stack[at], stack[at + 1])
