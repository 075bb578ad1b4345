"""Variables that a function updates and reads in the same call, where the update spoils them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.tf


def _assigned(tf: Any, w: Any, x: Any) -> Any:
    w.assign_add(x)  # the update
    return tf.reduce_max(w)


def _scattered_in_a_loop(tf: Any, w: Any, x: Any) -> Any:
    for _ in tf.range(6):
        w.scatter_nd_add([[1]], x[1:] * 0.2)  # the update
        tf.debugging.assert_non_negative(w)
    return tf.reduce_max(w)


def _in_a_branch_of_a_loop(tf: Any, w: Any, x: Any) -> Any:
    least = 0.0
    for turn in tf.range(4):
        if turn == 1:
            w.assign_add(x)  # the update
        else:
            w.assign_add(0.0 * x)
        least += w[0]
    return tf.reduce_max(w)


def _read_before_it_is_made_good(tf: Any, w: Any, x: Any) -> Any:
    w.assign_add(x)  # the update
    most = tf.reduce_max(w)
    w.assign(tf.ones_like(w))
    return most


@pytest.mark.parametrize(
    ("program", "held"),
    [
        (_assigned, 3e38),
        (_scattered_in_a_loop, 3.4e38),
        (_in_a_branch_of_a_loop, 3e38),
        (_read_before_it_is_made_good, 3e38),
    ],
)
def test_the_update_is_to_blame(tf2, origin, program: Callable[..., Any], held: float) -> None:
    w = tf2.Variable([1.0, 3e38], name="w")
    found = origin(tf2.function(lambda x: program(tf2, w, x)), tf2.constant([0.0, 1e38]))
    assert found["cause"].startswith("The update itself overflows: w and its step are finite, the sum at 1 element")
    assert "# the update" in next(line for line in found["screen"].splitlines() if "▸" in line)
    assert found["elements"][0]["inputs"][0] == pytest.approx(held), "as it was right before the update"
    assert found["after"]["bad"]
