"""Lines of code that AutoGraph generated."""

import pytest

from tfdbg_cli.model.sources import user_frame

tf = pytest.importorskip("tensorflow")

from tfdbg_cli.capture.tf.generated_code import written_call  # noqa: E402
from tfdbg_cli.capture.tf.tracebacks import tracebacks_of  # noqa: E402


def test_a_replica_that_is_defined_in_a_function_has_the_lines_of_the_program() -> None:
    """Replicas are traced in threads, where TensorFlow knows of no function around."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])

    @tf.function
    def train(x):
        def step(x):
            y = x * 2.0
            if tf.reduce_sum(y) > 0.0:
                y = y - 2.0
            for _ in tf.range(2):
                y = tf.math.log(y)
            return tf.exp(y)

        return strategy.run(step, args=(x,)), strategy.run(lambda: tf.sin(x))

    graph = train.get_concrete_function(tf.constant([1.0, 2.0])).graph
    found = {op.type: user_frame(tracebacks_of(graph)[op.name]) for op in graph.get_operations()}
    assert {frame.file for frame in found.values()} == {__file__}
    assert (found["Mul"].text, found["Mul"].function) == ("y = x * 2.0", "step")
    assert found["Exp"].text == "return tf.exp(y)"
    assert found["Sin"].text == "return strategy.run(step, args=(x,)), strategy.run(lambda: tf.sin(x))"
    inside = {
        op.type: user_frame(tracebacks_of(function.graph)[op.name])
        for function in train.get_concrete_function(tf.constant([1.0, 2.0])).graph._functions.values()
        for op in function.graph.get_operations()
        if op.type in ("Log", "Sub")
    }
    assert {kind: frame.text for kind, frame in inside.items()} == {"Log": "y = tf.math.log(y)", "Sub": "y = y - 2.0"}


@pytest.mark.parametrize("call", [("/program.py", 3, "step"), ("/tmp/__autograph_generated_fileabc.py", 3, "step")])
def test_what_was_generated_of_nothing_known_stays(call) -> None:
    assert written_call(call) == call
