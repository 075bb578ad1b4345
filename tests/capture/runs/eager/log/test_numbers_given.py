"""Numbers of Python's that ops are given, also where TensorFlow makes tensors of them first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.intercept.debugged_function import DebuggedFunction
from tfdbg_cli.capture.runs.eager.log import run_of_log
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import DebugRun
from tfdbg_cli.model.names import free_name

pytestmark = pytest.mark.tf
HUGE = tf.constant(-np.inf, tf.float16)


class Bounds:
    """Holds a tensor where nobody looks for names."""

    least = tf.constant(np.nan, tf.float16)


def given(function: Callable[[Any], Any]) -> list[tuple[str, list[float]]]:
    """By the op types that they are shown with, the numbers that the ops of `function` are given beside its input."""
    front = ScriptedFrontend(DebugRun())
    DebuggedFunction(function, Debugger(lambda: front))(tf.constant([1, 0], tf.float16))
    run = front.ends[0].run
    held = {run.tensors[row].node: run.tensors.value(row) for row in range(len(run.tensors))}
    held |= run.call.feeds
    asked = [name.node for node in run.graph for name in node.inputs if not run.graph.node(name.node).inputs]
    return [(run.graph.node(one).op_type, np.asarray(held[one]).tolist()) for one in asked if one != "x"]


@pytest.mark.parametrize(
    ("function", "number"),
    [
        (lambda x: x * -1e9, -np.inf),
        (lambda x: 1e9 - x, np.inf),
        (lambda x: x / -1e9, -np.inf),
        (lambda x: x + 1e9, np.inf),
        (lambda x: x * float("inf"), np.inf),
        (lambda x: tf.math.multiply(y=float("inf"), x=x), np.inf),
    ],
)
def test_an_infinity_that_the_program_wrote_is_a_constant(function: Callable[[Any], Any], number: float) -> None:
    """Whether TensorFlow gives the op the number or a tensor of it, as to `/` always, to `*` from 2.22 on."""
    ((shown, found),) = given(function)
    assert shown == "Const"
    np.testing.assert_equal(found, number)


def _masked(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        masked = tf.where(x > 0, x, -np.inf)
    return tape.gradient(masked, x)


def test_a_tape_that_hands_on_the_number_is_given_the_same_constant() -> None:
    """A healthy run was bad: `-inf` of a mask was "already in input_169, which Python gave to the op"."""
    shown = [each for each in given(_masked) if each[1] == -np.inf]
    assert len(shown) > 1
    assert {op_type for op_type, _ in shown} == {"Const"}


@pytest.mark.parametrize("function", [lambda x: x * HUGE, lambda x: x / HUGE, lambda x: x / Bounds.least])
def test_a_tensor_of_the_program_is_none(function: Callable[[Any], Any]) -> None:
    assert [shown for shown, _ in given(function)] == ["Placeholder"]


def test_an_infinity_of_python_may_be_one_that_it_computed() -> None:
    """Of what is multiplied that is said in another way: the cause is that it meets a 0."""
    assert given(lambda x: x + float(np.inf))[0] == ("Placeholder", np.inf)


def test_a_finite_number_is_no_constant() -> None:
    assert given(lambda x: x / 4.0 * 2.0)[0] == ("Placeholder", 4.0)


def test_each_of_many_numbers_is_named_without_asking_for_the_names_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The run of an eager program of 36 000 ops took 150 s to be recorded: each name began at `number_1` again."""
    asked: list[str] = []

    def counted(wanted: str, is_taken: Callable[[str], bool], *, beyond: int = 0) -> str:
        return free_name(wanted, lambda name: asked.append(name) or is_taken(name), beyond=beyond)

    monkeypatch.setattr(run_of_log, "free_name", counted)

    def many(x: Any) -> Any:
        for number in range(40):
            x = x + float(number)
        return x

    assert len(given(many)) == 40
    assert 40 <= len(asked) <= 120
    assert len(set(asked)) >= 40
