"""What op types do besides computing, held against TensorFlow's own ops."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.ops import effects
from tfdbg_cli.ops.effects import Does, StatePlace, effect_known

pytestmark = pytest.mark.tf
v1 = tf.compat.v1
raw = tf.raw_ops
NAMES = [name for name in dir(raw) if not name.startswith("_") and compat.op_definition(name) is not None]
ROWS = effects._TABLE
START = np.array([1.5, np.nan, -0.0, 3.0], np.float32)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.types)
def test_a_row_is_about_ops_that_there_are(row: effects.Effect) -> None:
    assert any(re.fullmatch(row.types, name) for name in NAMES)


def test_no_op_type_stands_in_two_rows() -> None:
    twice = [name for name in NAMES if sum(bool(re.fullmatch(row.types, name)) for row in ROWS) > 1]
    assert not twice


def _bits(value) -> bytes:
    return np.asarray(value).tobytes()


LEFT = {
    "ReadVariableOp": lambda handle: raw.ReadVariableOp(resource=handle, dtype=tf.float32),
    "ResourceGather": lambda handle: raw.ResourceGather(resource=handle, indices=[1, 0], dtype=tf.float32),
    "ResourceGatherNd": lambda handle: raw.ResourceGatherNd(resource=handle, indices=[[1]], dtype=tf.float32),
    "VariableShape": lambda handle: raw.VariableShape(input=handle),
    "VarIsInitializedOp": lambda handle: raw.VarIsInitializedOp(resource=handle),
    "DisableCopyOnRead": lambda handle: raw.DisableCopyOnRead(resource=handle),
}


@pytest.mark.parametrize("op_type", LEFT)
def test_a_variable_that_an_op_only_asks_or_reads_is_the_same_afterwards(op_type: str) -> None:
    variable = tf.Variable(START)
    read = variable.read_value()
    LEFT[op_type](variable.handle)
    assert _bits(variable.numpy()) == START.tobytes()
    variable.scatter_nd_update([[0]], [9.0])
    assert _bits(read.numpy()) == START.tobytes()
    assert effect_known(op_type).does in (Does.ASKS, Does.READS)


def test_the_order_of_reading_and_of_ending_the_copies_of_reads_changes_nothing() -> None:
    given = []
    for first in (True, False):
        variable = tf.Variable(START)
        variable.scatter_nd_update([[0]], [9.0])  # from here on reads copy
        if first:
            raw.DisableCopyOnRead(resource=variable.handle)
        read = raw.ReadVariableOp(resource=variable.handle, dtype=tf.float32)
        if not first:
            raw.DisableCopyOnRead(resource=variable.handle)
        variable.assign(np.zeros(4, np.float32))
        given.append((_bits(read.numpy()), _bits(variable.numpy())))
    assert given[0] == given[1]


FOLLOWING = {
    "CheckNumerics": lambda: raw.CheckNumerics(tensor=[1.5, -0.0], message=""),
    "CheckNumericsV2": lambda: raw.CheckNumericsV2(tensor=[1.5, -0.0], message=""),
    "GuaranteeConst": lambda: raw.GuaranteeConst(input=START),
    "StatelessRandomGetAlg": lambda: raw.StatelessRandomGetAlg(),
    "DeviceIndex": lambda: raw.DeviceIndex(device_names=["CPU", "GPU"]),
    "DeepCopy": lambda: raw.DeepCopy(x=START),
}
DRAWING = {
    "RandomUniform": lambda: raw.RandomUniform(shape=[4], dtype=tf.float32, seed=1, seed2=2),
    "TruncatedNormal": lambda: raw.TruncatedNormal(shape=[4], dtype=tf.float32, seed=1, seed2=2),
    "RandomShuffle": lambda: raw.RandomShuffle(value=list(range(50)), seed=1, seed2=2),
    "Multinomial": lambda: raw.Multinomial(logits=[[0.0] * 50], num_samples=4, seed=1, seed2=2),
}


@pytest.mark.parametrize("op_type", [*FOLLOWING, *DRAWING])
def test_what_follows_is_the_same_of_another_op_and_in_another_run(op_type: str) -> None:
    make = (FOLLOWING | DRAWING)[op_type]
    with tf.Graph().as_default(), v1.Session() as session:
        one, other = make(), make()
        assert one.op.type == op_type
        given = {_bits(session.run(tensor)) for tensor in (one, one, other)}
    known = effect_known(op_type)
    if op_type in FOLLOWING:
        assert len(given) == 1 and (known.does, known.state) == (Does.FOLLOWS, StatePlace.NONE)
    else:
        assert len(given) == 2 and (known.does, known.state) == (Does.DRAWS, StatePlace.KERNEL)


@pytest.mark.parametrize("op_type", ["ScatterNdNonAliasingAdd", "ScatterNdAdd", "StridedSliceAssign", "ScatterAdd"])
def test_what_writes_the_memory_of_a_variable_of_the_old_kind(op_type: str) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        variable = v1.Variable([1.0, 2.0], use_resource=False)
        memory = variable._variable
        op = {
            "ScatterNdNonAliasingAdd": lambda: raw.ScatterNdNonAliasingAdd(
                input=memory, indices=[[0]], updates=[5.0]
            ),
            "ScatterNdAdd": lambda: raw.ScatterNdAdd(ref=memory, indices=[[0]], updates=[5.0]),
            "ScatterAdd": lambda: raw.ScatterAdd(ref=memory, indices=[0], updates=[5.0]),
            "StridedSliceAssign": lambda: raw.StridedSliceAssign(
                ref=memory, begin=[0], end=[1], strides=[1], value=[6.0]
            ),
        }[op_type]().op
        session.run(variable.initializer)
        session.run(op)
        changed = session.run(variable)[0] != 1.0
    known = effect_known(op_type)
    assert changed == (known is not None and known.does is Does.WRITES)
