"""The same keystrokes, counted at the stops of a program that TensorFlow runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.warm_session import HeavySession

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from terminal_session import split_keys

pytestmark = [pytest.mark.tf, pytest.mark.terminal]
PROGRAM = Path(__file__).parents[1] / "support" / "program_with_an_infinity.py"


def test_from_the_stop_to_what_a_person_looks_for(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "tfdbg_cli", "run", "--watch", str(PROGRAM))
    session = HeavySession(command, 120, 45, {"HOME": str(tmp_path), "TF_CPP_MIN_LOG_LEVEL": "3"})

    def sees(*texts: str) -> None:
        for text in texts:
            session.wait(text)

    def pressed(keys: str, *shown: str) -> int:
        """How many keys these are; all of `shown` has been seen behind them."""
        session.send(keys)
        sees(*shown)
        return len(split_keys(keys))

    sees("run #1", "Origin    score:0", "Log of 0")
    past = pressed("<meta i>", "run #3", "1 ignored")  # past an infinity that is meant, to what is not
    assert past == 1
    sees("Square root of a negative number", "program_with_an_infinity.py:18 in step")
    sees("[3,17,4,0]  nan", "row 3 of 8")

    pressed("t", "Enter: pt roots:0")  # the list opens on its row
    element = pressed("<enter>", "roots:0 [3, 17, :, :]", "[3, 17, 4, 0]  nan")
    assert element <= 3

    pressed("o", "› origin", "Square root of a negative number")
    gradient = pressed("W", "role gradient", "NaN!") + pressed("<enter>", "› pt gradient_tape/", "NaN×360")
    assert gradient <= 3

    pressed("o", "› origin", "Square root of a negative number")
    row = pressed("<tab>", "▸1 row of the batch of 8")
    row += pressed("<enter>", "› row 3", "Row 3 of 8: bad", "a picture: v looks at it")
    assert row <= 2

    pressed("q", "How do you want to leave?")
    pressed("d")
    assert session.finish() == 0
    assert "the training is over" in session.raw
