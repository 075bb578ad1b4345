"""At which lines of a text something runs."""

from __future__ import annotations

import pytest

from tfdbg_cli.commands.asked.running_line import running_line

_TEXT = '''\
"""What it is for,
in two lines."""

def step(x):  # 4
    """One."""
    global w
    if x:
        y = tf.add(  # 8
            x,
            """a
            text"""  # 11
        )
    # nothing
    else: y = x
    try:  # 15
        return y

    finally:
        w = 1  # 19

'''


_MEANT = (4, 4, 4, 4, 7, 7, 7, 8, 9, 10, 8, 8, 14, 14, 16, 16, 19, 19, 19, 0)


@pytest.mark.parametrize(("number", "meant"), [*enumerate(_MEANT, start=1)])
def test_the_line_that_is_meant(number: int, meant: int) -> None:
    assert running_line(_TEXT.splitlines(), number) == meant


def test_of_what_is_no_python_every_line_is_taken() -> None:
    for text in ("x = (", "  x\n y", "'''"):
        assert running_line(text.splitlines(), 1) == 1
