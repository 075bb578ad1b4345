"""How many keys it takes from the stop to what a person looks for, with no command typed, in a real terminal."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.warm_session import WarmSession

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from terminal_session import split_keys

pytestmark = pytest.mark.terminal
HOST = Path(__file__).parents[1] / "support" / "tui_host.py"


class Person:
    """Somebody at the keyboard of tui_host.py in `scenario`; `pressed` counts the keys."""

    def __init__(self, tmp_path: Path, scenario: str, cols: int = 120, rows: int = 45) -> None:
        self._report = tmp_path / "report.json"
        command = [sys.executable, str(HOST), scenario, str(self._report)]
        self.session = WarmSession(command, cols, rows, env={"HOME": str(tmp_path)})
        self.session.wait("To type a command")
        self.pressed = 0

    def press(self, keys: str) -> None:
        assert ":" not in keys, "that types a command"
        self.pressed += len(split_keys(keys))
        self.session.send(keys)

    def sees(self, *texts: str) -> None:
        for text in texts:
            self.session.wait(text)

    def decisions(self) -> list[str]:
        assert self.session.finish() == 0
        report = json.loads(self._report.read_text())
        assert report["different"] == {}
        return report["decisions"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(("cols", "rows"), [(80, 24), (120, 45), (200, 60)])
def test_line_cause_and_element_take_no_key(tmp_path: Path, cols: int, rows: int) -> None:
    person = Person(tmp_path, "hit", cols, rows)
    person.sees("Log of 0: prob:0, a relu, is 0 at 2 elements.", "train.py:8", "[2,0]", "-inf", "row 2 of 4")
    assert person.pressed == 0


@pytest.mark.parametrize(("cols", "rows"), [(120, 45), (200, 60)])
def test_the_row_of_the_batch_takes_two(tmp_path: Path, cols: int, rows: int) -> None:
    person = Person(tmp_path, "hit", cols, rows)
    person.sees("1 row of the batch of 4", "x:0[2]")  # a part of it is seen without a key
    person.press("<tab>")
    person.sees("▸1 row of the batch of 4")
    person.press("<enter>")
    person.sees("› row 2", "Row 2 of 4: bad", "x:0[2]", "y:0[2]")  # inputs and labels together
    assert person.pressed <= 2


@pytest.mark.parametrize(("cols", "rows"), [(40, 10), (80, 24), (200, 60)])
def test_the_row_of_the_batch_has_a_key_where_there_is_no_second_pane(tmp_path: Path, cols: int, rows: int) -> None:
    person = Person(tmp_path, "hit", cols, rows)
    person.press("V")
    person.sees("Row 2 of 4: bad", "x:0[2]")
    assert person.pressed == 1


def test_a_nan_deep_in_a_tensor_takes_three_from_its_row(tmp_path: Path) -> None:
    person = Person(tmp_path, "arrays")
    person.sees("Enter: pt x:0")
    person.press("<enter>")
    person.sees("[0, 0, :, :]")
    person.press("]n")
    person.sees("[3, 17, 4, 0]  nan")
    assert person.pressed <= 3  # ] and n are two


def test_past_an_infinity_that_is_meant_takes_one(tmp_path: Path) -> None:
    person = Person(tmp_path, "hit")
    person.press("<meta i>")
    (decision,) = person.decisions()
    assert person.pressed == 1
    assert "RunUntil" in decision and "has_inf_or_nan" in decision


@pytest.mark.parametrize(("cols", "rows"), [(80, 24), (200, 60)])
def test_the_worst_gradient_takes_two_from_where_it_all_began(tmp_path: Path, cols: int, rows: int) -> None:
    person = Person(tmp_path, "spoiled", cols, rows)
    person.sees("Log of 0")
    person.press("W")
    person.sees("role gradient", "Enter: pt gradients/head/MatMul_grad/MatMul_1:0")
    person.press("<enter>")
    person.sees("gradients/head/MatMul_grad/MatMul_1:0 [:, :]")
    assert person.pressed <= 3


def test_the_worst_gradient_of_a_list_takes_three_at_most(tmp_path: Path) -> None:
    person = Person(tmp_path, "exploded")
    person.sees("exploding_gradient")
    person.press("w")
    person.sees("Enter: pt gradients/head/MatMul_grad/MatMul_1:0")
    person.press("<enter>")
    person.sees("› pt gradients/head/MatMul_grad/MatMul_1:0", "n=12 all x=2e+09")
    assert person.pressed <= 3
