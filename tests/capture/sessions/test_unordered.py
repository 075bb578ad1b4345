"""What shares the memory of a variable of the old kind, and what is not drawn, held against TensorFlow's kernels."""

from __future__ import annotations

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
        state = call_state(reached.order, reached.tensors, frozenset())
    assert [op.type for op in state.outside] == (["RandomUniform"] if op_type == "RandomUniform" else [])
