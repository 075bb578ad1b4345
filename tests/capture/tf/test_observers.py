"""Op callbacks of the program see what the program runs, and nothing of ours."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.observers import observed, unobserved

pytestmark = pytest.mark.tf


@pytest.fixture
def seen() -> Iterator[list[str]]:
    found: list[str] = []

    def callback(op_type, inputs, attributes, outputs, op_name=None, graph=None):
        found.append(op_type)

    eager = compat.eager_context()
    eager.add_op_callback(callback)
    yield found
    eager.remove_op_callback(callback)


def test_ops_of_ours_are_seen_neither_by_callbacks_nor_by_a_tape(seen: list[str]) -> None:
    variable = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        variable * 1.0
        before = list(seen)
        with unobserved():
            ours = variable * 3.0
        assert seen == before
        variable * 1.0
    assert len(seen) > len(before)
    assert tape.gradient(ours, variable) is None


def test_callbacks_are_back_after_an_error(seen: list[str]) -> None:
    with pytest.raises(ZeroDivisionError), unobserved():
        raise ZeroDivisionError
    tf.raw_ops.Neg(x=tf.constant(1.0))
    assert "Neg" in seen


def test_a_call_made_in_place_of_the_programs_is_shown_under_the_name_of_the_function(seen: list[str]) -> None:
    with unobserved():
        given, gave = tf.constant(1.0), tf.constant(2.0)
    observed("__inference_double_7", [given], [gave])
    assert seen == ["__inference_double_7"]
