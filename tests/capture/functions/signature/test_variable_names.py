"""The names of the variables that a function captured: distinct, and those of nodes."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.signature.arguments import slots_of

pytestmark = pytest.mark.tf


def test_a_variable_whose_name_holds_a_colon_takes_no_other_ones_name() -> None:
    """A blind test: `x:1` was called x, and the variable x was called x_2."""
    variables = [tf.Variable(1.0, name=name) for name in ("x:1", "x:2", "x", "x")]
    graph = tf.function(lambda: tf.add_n(variables)).get_concrete_function().graph
    places = {id(variable): place for place, variable in enumerate(variables)}
    names = {slot.argument.name: places[id(slot.variable)] for slot in slots_of(graph) if slot.argument.captured}
    assert names == {"x.1": 0, "x.2": 1, "x": 2, "x_1": 3}
