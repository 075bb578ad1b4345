"""What shares the memory of a variable of the old kind, and what is not drawn, held against TensorFlow's kernels."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from tfdbg_cli.capture.sessions.call_state import call_state
from tfdbg_cli.capture.sessions.holders import HANDING_ON
from tfdbg_cli.capture.sessions.reach import reach

pytestmark = pytest.mark.tf
v1 = tf.compat.v1
raw = tf.raw_ops
GIVING = {
    "Identity": lambda given: raw.Identity(input=given),
    "Snapshot": lambda given: raw.Snapshot(input=given),
    "StopGradient": lambda given: raw.StopGradient(input=given),
    "PreventGradient": lambda given: raw.PreventGradient(input=given),
    "Reshape": lambda given: raw.Reshape(tensor=given, shape=[2, 2]),
    "ExpandDims": lambda given: raw.ExpandDims(input=given, axis=0),
    "Squeeze": lambda given: raw.Squeeze(input=given),
    "EnsureShape": lambda given: raw.EnsureShape(input=given, shape=[4]),
    "CheckNumerics": lambda given: raw.CheckNumerics(tensor=given, message=""),
    "Print": lambda given: raw.Print(input=given, data=[]),
    "DeepCopy": lambda given: raw.DeepCopy(x=given),
    "Neg": lambda given: raw.Neg(x=given),
}


@pytest.mark.parametrize("op_type", GIVING)
def test_an_update_shows_in_what_shares_the_memory_and_nowhere_else(op_type: str) -> None:
    with tf.Graph().as_default(), v1.Session(config=_as_written()) as session:
        variable = v1.Variable([1.0, 2.0, 3.0, 4.0], use_resource=False)
        given = GIVING[op_type](variable._variable)
        assert given.op.type == op_type
        with tf.control_dependencies([given]):
            update = v1.assign_add(variable, [10.0, 10.0, 10.0, 10.0])
        session.run(variable.initializer)
        early, _ = session.run([given, update.op])
    assert (early.reshape(-1)[0] == 11.0) == (op_type in HANDING_ON)
    assert GIVING.keys() >= HANDING_ON


def _as_written() -> v1.ConfigProto:
    """Without the optimizer, which leaves out what only passes a value on."""
    config = v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


@pytest.mark.parametrize("op_type", ["GuaranteeConst", "StatelessRandomGetAlg", "DeviceIndex", "RandomUniform"])
def test_what_follows_from_what_it_reads_is_not_drawn(op_type: str) -> None:
    with tf.Graph().as_default() as graph:
        made = {
            "GuaranteeConst": lambda: raw.GuaranteeConst(input=[1.0]),
            "StatelessRandomGetAlg": lambda: raw.StatelessRandomGetAlg(),
            "DeviceIndex": lambda: raw.DeviceIndex(device_names=["CPU", "GPU"]),
            "RandomUniform": lambda: raw.RandomUniform(shape=[1], dtype=tf.float32),
        }[op_type]()
        reached = reach(graph, [made.op], ())
        state = call_state(reached.ops, reached.fetchable, frozenset())
    assert [op.type for op in state.outside] == (["RandomUniform"] if op_type == "RandomUniform" else [])


def _disputed(fetched: Any) -> str:
    reached = reach(fetched.graph, [fetched.op], ())
    return call_state(reached.ops, reached.fetchable, frozenset(), [fetched.op]).unordered


def _best() -> tuple[Any, Any]:
    """A number, and the variable that holds the least of all, as a program keeps the best loss."""
    return v1.placeholder(tf.float32, []), v1.get_variable("best", [], use_resource=True)


@pytest.mark.usefixtures("loops_of_v1")
def test_what_two_branches_of_one_condition_do_has_no_order() -> None:
    """As where the best loss so far is kept: the watch said of such a program that its numbers are left to chance."""
    with tf.Graph().as_default():
        x, best = _best()
        assert not _disputed(v1.cond(x < best, lambda: v1.assign(best, x), lambda: tf.identity(best)))
    with tf.Graph().as_default():
        x, best = _best()
        read = lambda: v1.cond(x < 1, lambda: best + 0.0, lambda: x)  # noqa: E731
        assert not _disputed(v1.cond(x < best, lambda: v1.assign(best, x), read)), "in a branch of a branch"


@pytest.mark.usefixtures("loops_of_v1")
def test_what_may_both_happen_has_one() -> None:
    with tf.Graph().as_default():
        x, best = _best()
        written = v1.cond(x < 1, lambda: v1.assign(best, x), lambda: tf.constant(0.0))
        read = v1.cond(x < 2, lambda: tf.constant(0.0), lambda: best + 0.0)
        assert _disputed(written + read) == "best", "two conditions"
    with tf.Graph().as_default():
        x, best = _best()
        decided = x < 1
        written = v1.cond(decided, lambda: v1.assign(best, x), lambda: tf.constant(0.0))
        merged = v1.cond(decided, lambda: x, lambda: x + 1)
        assert _disputed(written + best * merged) == "best", "behind both branches"
