"""Variables that are spread over replicas, in a program whose functions are watched."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

# Two logical CPUs can only be asked for before TensorFlow starts.
_SCRIPT = """
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from tfdbg_cli.capture.runs.eager.program_names import names_of_tensors
from tfdbg_cli.capture.tf.callers import live_frames
from tfdbg_cli.capture.tf import compat

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
plain = tf.Variable(3.0)
with strategy.scope():
    weights = tf.Variable([1.0, 2.0])
    named = names_of_tensors(live_frames())
print([named[compat.tensor_id(copy.handle)] for copy in weights.values], named[compat.tensor_id(plain.handle)])
"""


def test_each_copy_of_a_mirrored_variable_has_its_name(tmp_path: Path) -> None:
    """In the scope of its strategy it has no handle of its own, and raises when it is asked for one."""
    program = tmp_path / "program.py"
    program.write_text(_SCRIPT, encoding="utf-8")
    done = python(program)
    assert done.stdout.strip() == "['weights', 'weights.values[1]'] plain", done.stderr[-3000:]
