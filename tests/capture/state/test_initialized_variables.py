"""Variables of a session that nobody has initialized yet are asked for it, not read."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from support.warm_python import run_warm

from tfdbg_cli.model.decision import DebugRun

pytestmark = pytest.mark.tf

PROGRAM = """
import tensorflow.compat.v1 as tf
import tfdbg_cli as tf_debug

tf.disable_eager_execution()
x = tf.placeholder(tf.float32, [2])
variables = [
    tf.get_variable("new", initializer=[1.0, 2.0], use_resource=True),
    tf.get_variable("old", initializer=[1.0, 2.0], use_resource=False),
]
drawn = tf.random.uniform([2])
with tf.control_dependencies([tf.debugging.assert_positive(x)]):
    late = tf.random.normal([2])
total = tf.reduce_sum(variables[0] * variables[1] + drawn + late)
session = tf_debug.LocalCLIDebugWrapperSession(tf.Session())
session.run(tf.global_variables_initializer())
print(session.run(variables))
try:
    session.run(total, {x: [-1.0, 1.0]})
except tf.errors.InvalidArgumentError:
    print("refused")
"""


@pytest.mark.parametrize("command", ["run", "run -f has_inf_or_nan"])
def test_tensorflow_warns_of_no_op_of_ours(tmp_path: Path, command: str) -> None:
    """A blind test: TensorFlow's log is on standard error, and most tests switch it off."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    environ = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    environ["PYTHONPATH"] = str(Path(__file__).parents[3])
    done = run_warm([str(script)], tmp_path, environ, f"{command}\n" * 4, 280)
    assert done.returncode == 0, done.stderr
    assert "refused" in done.stdout
    assert "assertion failed" in done.stderr or "assertion failed" in done.stdout
    assert "tfdbg_cli.hidden" not in done.stderr


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
def test_a_run_that_asks_for_variables_without_a_value_has_its_values(tf, debugged, graph, resource: bool) -> None:
    """A blind test: of `tf.is_variable_initialized` nothing was recorded, and the stack of the variable was told."""
    v, w = (tf.get_variable(name, initializer=[3.0], use_resource=resource) for name in "vw")
    asked = v.is_initialized() if resource else tf.is_variable_initialized(v)
    asked, named = tf.identity(asked, name="asked"), tf.report_uninitialized_variables()
    product = tf.multiply(v, w, name="product")
    with tf.Session() as raw:
        raw.run(w.initializer)
        session, front = debugged(raw, *[DebugRun() for _ in range(8)])
        assert not session.run(asked) and list(session.run(named)) == [b"v"]
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(product)
        raw.run(v.initializer)
        assert session.run(asked) and not len(session.run(named)) and session.run(product) == 9.0
    without, names, failed, having, none, whole = (end.run for end in front.ends)
    assert [bool(_value(run, "asked")) for run in (without, having)] == [False, True]
    assert [list(_value(run, named.op.name)) for run in (names, none)] == [[b"v"], []]
    assert failed.error is not None and not failed.lacks and _value(whole, "product") == 9.0
    assert all(run.exactness is not None and not run.exactness.differs for run in (without, names, having, whole))


def _value(run, node: str) -> np.ndarray:
    return run.tensors.value(run.tensors.named(node)[-1])
