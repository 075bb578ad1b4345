"""Rows of what branches and loops give: each output has a result of its own behind it."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.analysis.graph.axes.kept_axes import ways_back
from tfdbg_cli.analysis.graph.axes.row_ways import RowSet
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.values import Array

TWO = "[float32, float32]"


def _positions(op_type: str, slot: int, *inputs: str, chosen: Array | None = None, **attributes: str) -> list[int]:
    node = Node("cond", op_type, "", tuple(TensorName(name, 0) for name in inputs), (), attributes)
    shapes = [(8, 4)] * len(inputs)
    rows = RowSet(node, slot, (8, 4), 0, np.array([5]), shapes, lambda position: None if position else chosen)
    found = ways_back(rows)
    assert all(way.axis == 0 and way.rows.tolist() == [5] for way in found)
    return [way.position for way in found]


@pytest.mark.parametrize("op_type", ["If", "StatelessIf"])
@pytest.mark.parametrize("slot", [0, 1])
def test_of_two_batches_that_a_conditional_gives_each_has_its_own_rows(op_type: str, slot: int) -> None:
    """As `next(iterator)` under a MirroredStrategy, which gives one batch for each replica."""
    inputs = ("chosen", "cond/true/one", "cond/true/two", "cond/false/one", "cond/false/two", "given", "other")
    assert _positions(op_type, slot, *inputs, Tout=TWO) == [1 + slot, 3 + slot]


def test_a_branch_that_hands_on_what_it_was_given_tells_no_rows_that_may_be_of_another() -> None:
    inputs = ("chosen", "given", "cond/true/two", "cond/false/one", "cond/false/two")
    assert _positions("StatelessIf", 0, *inputs, Tout=TWO) == [3]


def test_a_choice_of_many() -> None:
    inputs = ("chosen", *(f"cond/branch{i}/{name}" for i in range(3) for name in ("one", "two")))
    assert _positions("Case", 1, *inputs, Tout=TWO) == [2, 4, 6]


def test_each_variable_of_a_loop_has_its_own_rows() -> None:
    inputs = ("cond/body/i", "cond/body/a", "cond/body/b", "start", "x", "y")
    assert _positions("StatelessWhile", 2, *inputs, T="[int32, float32, float32]") == [2]


def test_of_one_output_the_results_of_the_branches_became_it() -> None:
    """A blind test: of a branch that turned the batch round the rows of what was given to it were named."""
    inputs = ("chosen", "cond/true/one", "cond/false_3/one", "given")
    assert _positions("If", 0, *inputs, Tout="[float32]") == [1, 2]
    assert _positions("If", 0, *inputs, chosen=np.array(True), Tout="[float32]") == [1]
    assert _positions("If", 0, *inputs, chosen=np.array(False), Tout="[float32]") == [2]


def test_of_one_output_that_was_handed_on_any_input_may_have_become_it() -> None:
    assert _positions("If", 0, "chosen", "given", "other", Tout="[float32]") == [0, 1, 2]
    assert _positions("If", 0, "cond/true/one") == [0]  # nobody recorded what it gives


def test_the_only_variable_of_a_loop() -> None:
    assert _positions("While", 0, "cond/body/a", "start", T="[float32]") == [0]
