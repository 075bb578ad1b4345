"""What a watched call does beside the call itself, each time: little, since the shortest step has it, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.calling import instrumented
from tfdbg_cli.capture.pipeline import Reported
from tfdbg_cli.capture.state import variable_values
from tfdbg_cli.capture.state.variable_values import VariableReader
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.model.decision import Detach, RunUntil

pytestmark = pytest.mark.tf
_FLOAT = tf.float32.as_datatype_enum


def test_variables_are_read_by_a_function_where_they_are_many_and_read_often(monkeypatch) -> None:
    """A function runs in threads of its own and is waited for: ten times as long as one op. To make it takes long."""
    few = [tf.Variable(np.full(2, at, np.float32)) for at in range(variable_values._FEW)]
    many = [*few, tf.Variable([9.0, 9.0])]
    called: list[str] = []
    original = compat.run_function

    def run_function(name: str, *arguments: Any, **keywords: Any) -> Any:
        called.append(name)
        return original(name, *arguments, **keywords)

    monkeypatch.setattr(compat, "run_function", run_function)
    for variables, calls in ((few, 0), (many, 3)):
        called.clear()
        reader = VariableReader([_FLOAT] * len(variables))
        for _ in range(variable_values._RARELY + 3):
            read = reader.read([one.handle for one in variables])
            assert [value.numpy().tolist() for value in read] == [one.numpy().tolist() for one in variables]
        assert len(called) == calls


@pytest.mark.parametrize(("others", "before"), [(0, 0), (variable_values._FEW, 0), (9, variable_values._RARELY)])
def test_a_variable_without_a_value_reads_as_none(others, before) -> None:
    more = [tf.Variable([1.0]) for _ in range(others)]
    empty = tf.Variable(np.zeros([0, 3], np.float32))
    unset = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[0], shared_name=f"unset_{others}_{before}")
    handles = [*(one.handle for one in more), empty.handle, unset]
    reader = VariableReader([_FLOAT] * len(handles))
    for _ in range(before):
        reader.read(handles)
    *_, first, second = reader.read(handles)
    assert first is not None and tuple(first.shape) == (0, 3)
    assert second is None


def test_of_a_run_that_passed_it_is_asked_once_whether_it_did() -> None:
    """`isinstance` of a protocol asks every property, at every run."""
    asked: list[str] = []

    class Passed:
        @property
        def passed(self) -> bool:
            asked.append("passed")
            return True

        @property
        def exactness(self) -> None:
            asked.append("exactness")

        def finish(self, keep: bool) -> None:
            assert not keep

    class Listening:
        def run_passed(self, *_: Any) -> None:
            asked.append("told")

    with Reported(Listening(), None, type("Made", (), {"looks_at": ""})(), Passed()):  # type: ignore[arg-type]
        pass
    assert asked == ["passed", "exactness", "told"]


def test_what_a_watched_call_gives_back_for_its_replay_is_put_in_no_order(watched, monkeypatch) -> None:
    """Where there is no branch or loop there is nothing to put in order."""
    weight = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x: Any) -> Any:
        loss = tf.reduce_sum(weight * x)
        weight.assign_sub(tf.math.log(x))
        return loss

    put_in_order: list[object] = []
    original = instrumented.Unrolled

    def unrolled(*arguments: Any) -> Any:
        put_in_order.append(arguments)
        return original(*arguments)

    with watched(RunUntil("bad_result"), Detach()) as front:
        step(tf.constant([1.0, 1.0]))
        monkeypatch.setattr(instrumented, "Unrolled", unrolled)
        for _ in range(4):
            step(tf.constant([1.0, 1.0]))
        assert not put_in_order
        step(tf.constant([1.0, -1.0]))
    (end,) = front.ends
    assert end.hit is not None
    tensors = end.run.tensors
    row = next(row for row in range(len(tensors)) if tensors[row].op_type == "ReadVariableOp")
    assert tensors.value(row).tolist() == [1.0, 2.0], "as it was before the update"
