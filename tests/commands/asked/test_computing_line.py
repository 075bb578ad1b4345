"""Which line of a statement is that at which its ops run."""

from __future__ import annotations

import warnings

import pytest

from tfdbg_cli.commands.asked.computing_line import computing_line
from tfdbg_cli.commands.asked.running_line import statement_at

_TEXT = """\
def late(x):
    y = tf.math.log(
        x,
        name="lg",
    )
    z = (
        y
        + 1
    )
    return tf.stack([
        tf.exp(z), tf.exp(y),
        x,
    ], axis=0)
a = (
    1,
    2,
)
square = deco(
    lambda v: v *
    v
)
"""


@pytest.mark.parametrize(
    ("number", "meant"),
    [(2, 2), (3, 2), (4, 2), (6, 7), (7, 7), (8, 7), (10, 10), (11, 11), (12, 11), (15, 15), (18, 18), (20, 19)],
)  # fmt: skip
def test_the_line_that_computes(number: int, meant: int) -> None:
    lines = _TEXT.splitlines()
    assert computing_line(lines, number, statement_at(lines, number)) == meant


def test_what_is_no_python_is_left_as_it_is_and_escapes_bring_no_warning() -> None:
    broken = ["return (", "x)"]
    assert computing_line(broken, 2, statement_at(broken, 2)) == 2
    assert not statement_at(["x = ("], 1)
    odd = ["f(", "  '\\d',", ")"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert computing_line(odd, 2, statement_at(odd, 2)) == 1
