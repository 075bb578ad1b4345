"""What a program lets go of dies under a watch as it does without, functions that eager code called among it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.launched import launched

pytestmark = pytest.mark.tf

PROGRAM = """
import gc, weakref
import tensorflow as tf

for given in (1.0, -1.0):
    weights = tf.Variable([2.0])
    function = tf.function(lambda x: tf.multiply(x, weights, name="inner"))
    gave = function(tf.constant([given])) + function(tf.constant([given]))
    held = [weakref.ref(weights), weakref.ref(function)]
    del weights, function
    gc.collect()
    print([one() is None for one in held])
    tf.math.log(gave).numpy()
"""


@pytest.mark.parametrize("way", [(), ("--watch",), ("--until", "has_inf_or_nan", "-c", "origin", "-c", "lt")])
def test_a_function_that_eager_code_called_dies_when_the_program_lets_go_of_it(tmp_path: Path, way) -> None:
    """A stop behind that still shows the call, by what it was given and what it gave."""
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)
    done = launched(script, *way)
    assert re.findall(r"^\[.*\]$", done.stdout, re.MULTILINE) == ["[True, True]"] * 2, done.stdout
    assert "could not" not in done.stderr
    if "--until" in way:
        assert "Log of a negative number" in done.stdout
        assert len(re.findall(r"^ *\d+ +4 B +<lambda> +float32", done.stdout, re.MULTILINE)) == 2, done.stdout
