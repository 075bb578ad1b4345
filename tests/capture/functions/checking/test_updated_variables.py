"""Variables after their updates: where that was, and behind what they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.capture.functions.checking.updated_variables import updated_variables
from tfdbg_cli.capture.functions.graph.scopes import scope_of
from tfdbg_cli.capture.runs.function.function_checks import with_updated
from tfdbg_cli.model.decision import DebugRun, Detach, RunUntil, Values
from tfdbg_cli.model.graph import Graph

pytestmark = pytest.mark.tf

SECOND = "/job:localhost/replica:0/task:0/device:CPU:1"


def test_an_update_stands_where_it_was_asked_for() -> None:
    """As a MirroredStrategy asks for the updates of its second replica; TensorFlow says the first CPU of any.

    The function is traced, not called.
    """
    here, there = tf.Variable([1.0], name="here"), tf.Variable([1.0], name="there")

    @tf.function
    def step() -> None:
        here.assign_sub([0.5])
        with tf.device(SECOND):
            there.assign_sub([0.5])

    root = scope_of(step.get_concrete_function())
    assert [one.device for one in updated_variables(root)] == ["", SECOND]
    assert [node.device for node in with_updated(Graph([]), root)] == ["", SECOND]


def _written_in_a_branch(variable: tf.Variable, increment: Callable[[Any], Any]) -> Any:
    @tf.function
    def inside(x: Any) -> None:
        variable.assign_add(increment(x))

    @tf.function
    def step(x: Any) -> None:
        inside(x)
        if tf.reduce_sum(x) > 0.0:
            for _ in tf.range(2):
                variable.assign(x)

    return step


def test_a_variable_is_read_behind_the_branches_that_write_it_too() -> None:
    """What is added to it would not show there: a NaN in that is looked for where it is made."""
    step = _written_in_a_branch(tf.Variable([1.0, 2.0], name="v"), tf.math.log)
    root = scope_of(step.get_concrete_function(tf.TensorSpec([2])))
    outer, inner = sorted(updated_variables(root), key=lambda one: len(one.name.node))
    writers = [name for name in outer.waits if root.body.nodes[name].op in {"If", "StatelessIf"}]
    assert len(writers) == 1 and len(outer.waits) == 2
    assert outer.same_as is None and outer.adds == ()
    assert len(inner.waits) == 1 and inner.same_as is not None


@pytest.mark.parametrize("values", [Values.REPLAY, Values.KEEP])
def test_a_bad_increment_stops_though_a_branch_writes_over_it(values: Values, watched: Any) -> None:
    step = _written_in_a_branch(tf.Variable([1.0, 2.0]), tf.math.log)
    for _ in range(10):
        with watched(RunUntil("has_inf_or_nan", values=values), Detach()) as front:
            step(tf.constant([-1.0, 3.0]))
        (end,) = front.ends
        origin = OriginSearch(end.run).first()
        assert origin is not None and origin.op_type == "Log"


def test_what_is_shown_of_a_variable_is_what_it_holds_after_the_run(watched: Any) -> None:
    variable = tf.Variable(tf.zeros(500))
    step = _written_in_a_branch(variable, tf.negative)
    for _ in range(20):
        with watched(DebugRun(), Detach()) as front:
            step(tf.ones(500))
        tensors = front.ends[0].run.tensors
        (shown,) = [index for index in range(len(tensors)) if tensors[index].name.node == "Variable/after_update"]
        assert np.array_equal(tensors.value(shown), variable.numpy())
