"""Sums to which the runtime adds the terms as they come."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.exact.unordered_sums import unordered_sums
from tfdbg_cli.capture.functions.optimized.compiled import Compiled

pytestmark = pytest.mark.tf


def _summed(terms: int) -> Compiled:
    """What TensorFlow's memory optimizer makes of an AddN of so many terms."""
    definition = tf.compat.v1.GraphDef()
    definition.node.add(name="call/_3/AddN_7/tmp_var", op="TemporaryVariable")
    begins = ["call/_3/AddN_7/tmp_var", "zeros"]
    definition.node.add(name="call/_3/AddN_7/tmp_var_initializer", op="Assign", input=begins)
    for at in range(terms):
        given = ["call/_3/AddN_7/tmp_var_initializer", f"term_{at}"]
        definition.node.add(name=f"call/_3/AddN_7/tmp_var_accum_{at}", op="AssignAdd", input=given)
    definition.node.add(name="other", op="AssignAdd", input=["variable", "term_0"])
    return Compiled(definition.node, definition.node)


def test_a_sum_of_three_terms_depends_on_their_order_and_one_of_two_does_not() -> None:
    assert unordered_sums(_summed(3)) == ["call/AddN_7"]
    assert unordered_sums(_summed(2)) == []
    assert unordered_sums(Compiled([], [])) == ()
