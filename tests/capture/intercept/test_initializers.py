"""Under `tfdbg run` the runs that only initialize are not stopped at."""

from __future__ import annotations

import pytest

from tfdbg_cli.capture.controller import Action, Plan
from tfdbg_cli.capture.intercept.initializers import InitializersApart

pytestmark = pytest.mark.tf


class _Asked:
    settings = None

    def __init__(self) -> None:
        self.asked = []
        self.counted = 0

    def count_run(self) -> int:
        self.counted += 1
        return self.counted

    def run_starts(self, pending) -> Plan:
        self.asked.append(pending.arguments()[0])
        return Plan(self.count_run(), Action.CAPTURE, True)


class _Pending:
    def __init__(self, fetches) -> None:
        self._fetches = fetches

    def arguments(self):
        return self._fetches, None


@pytest.fixture(scope="module")
def tf():
    import tensorflow.compat.v1 as tf

    return tf


def _asks(fetches) -> bool:
    asked = _Asked()
    plan = InitializersApart(asked).run_starts(_Pending(fetches))
    assert plan.number == 1
    assert plan.errors
    return bool(asked.asked)


@pytest.mark.parametrize("resource", [True, False])
def test_initializers_are_left_alone_and_steps_are_not(tf, resource) -> None:
    with tf.Graph().as_default():
        v = tf.get_variable("v", [2], use_resource=resource)
        w = tf.get_variable("w", [2], use_resource=resource)
        keys = tf.lookup.KeyValueTensorInitializer(["a"], [1])
        tf.lookup.StaticHashTable(keys, 0)
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(3))
        init = tf.global_variables_initializer()
        step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(v * w))
        copied = tf.group(v.assign(w))
        for initializing in (
            init,
            [init, tf.local_variables_initializer()],
            tf.group(init, tf.tables_initializer()),
            v.initializer,
            [v.initializer, w.initializer],
            iterator.initializer,
        ):
            assert not _asks(initializing)
        for meant in (
            step,
            [init, step],
            copied,
            v,
            [step, v],
            "init",
            {"a": init},
            v.assign(w),
            v.assign_add(w),
            [],
        ):
            assert _asks(meant), meant


def test_a_train_step_is_asked_about_each_time(tf) -> None:
    with tf.Graph().as_default():
        v = tf.get_variable("v", [2])
        step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v))
        asked = _Asked()
        apart = InitializersApart(asked)
        for _ in range(3):
            apart.run_starts(_Pending(step))
        assert len(asked.asked) == 3
