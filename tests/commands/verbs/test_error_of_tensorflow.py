"""`error_info` of an error that TensorFlow itself raised."""

from __future__ import annotations

import pytest
from support import sample_run
from support.prompt import text_of

from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.runs import RunEnd

pytestmark = pytest.mark.tf


def test_the_message_is_the_kernels() -> None:
    import tensorflow.compat.v1 as tf

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, name="x")
        product = tf.matmul(x, tf.ones([7, 7]), name="product")
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(product, {x: [[1.0, 2.0]]})
    message = str(caught.value)
    assert "Graph execution error" in message or "Original stack trace" in message, "else the cutting is not tried"
    error = RunError("InvalidArgumentError", message, "dense/MatMul")
    text = text_of("ei", RunEnd(sample_run.sample_run(error=error)))
    assert "Matrix size-incompatible" in text
    assert "Graph execution error" not in text and "most recent call last" not in text
