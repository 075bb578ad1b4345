"""What an op gives that updates variables of the old kind: the first of them, as TensorFlow itself gives it."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.model.decision import DebugRun

pytestmark = pytest.mark.tf
_OPTIMIZERS = {
    "GradientDescentOptimizer": (0.1,),
    "MomentumOptimizer": (0.1, 0.9),
    "AdamOptimizer": (0.1,),
    "AdagradOptimizer": (0.1,),
    "AdadeltaOptimizer": (0.1,),
    "RMSPropOptimizer": (0.1,),
    "FtrlOptimizer": (0.1,),
    "ProximalAdagradOptimizer": (0.1,),
}


@pytest.mark.parametrize("fetched", [False, True], ids=["run", "fetched"])
@pytest.mark.parametrize(("name", "arguments"), _OPTIMIZERS.items(), ids=_OPTIMIZERS)
def test_of_several_variables_it_is_the_first(tf, debugged, graph, name, arguments, fetched) -> None:
    w = tf.get_variable("w", initializer=np.float32([1, 2, 3, 4]), use_resource=False)
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(x * w, 1) - 1))
    train = getattr(tf.train, name)(*arguments).minimize(loss)
    (update,) = (op for op in graph.get_operations() if op.type.startswith("Apply"))
    feed = {x: np.arange(12, dtype=np.float32).reshape(3, 4) / 10}
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        plain = raw.run(update.outputs[0], feed)
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, DebugRun())
        given = session.run([train, update.outputs[0]] if fetched else train, feed)
    (end,) = front.ends
    (row,) = end.run.tensors.named(update.name, 0)
    np.testing.assert_array_equal(end.run.tensors.value(row), plain)
    if fetched:
        np.testing.assert_array_equal(given[1], plain)
