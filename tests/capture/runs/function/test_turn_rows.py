"""Where a loop takes one row a turn, the turn is the row; and what it gathers leads back to the turn that made it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.prompt import json_of, text_of

from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf


@pytest.fixture
def origin(watched: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Calls a function under a watch: what `origin` says of the first bad run."""

    def find(function: Callable[..., Any], *given: Any) -> dict[str, Any]:
        with watched(RunUntil("has_inf_or_nan")) as front:
            function(*given)
        return json_of("origin", front.ends[0])

    return find


def test_map_fn(tf2, origin) -> None:
    @tf2.function
    def mapped(x: Any) -> Any:
        return tf2.map_fn(lambda row: tf2.reduce_sum(tf2.math.log(row)), x)

    found = origin(mapped, tf2.constant([[1.0, 2.0], [1.0, -2.0], [3.0, 3.0]]))
    assert found["op_type"] == "Log" and found["execution"] == 1
    assert found["batch_rows"] == [1] and found["batch"]["size"] == 3


@pytest.mark.parametrize("part", [lambda row: row[:, 1], lambda row: row[0]], ids=["column", "first"])
def test_map_fn_over_a_part_of_each_row(tf2, origin, part) -> None:
    """A blind test: a column that was sliced from what a turn made of its row led to no row of the batch."""

    @tf2.function
    def mapped(x: Any) -> Any:
        def share(row: Any) -> Any:
            chosen = part(row * 2.0)
            return tf2.reduce_sum(chosen / tf2.reduce_sum(chosen))

        return tf2.map_fn(share, x)

    rows = np.ones((4, 3, 2), np.float32)
    rows[2] = 0.0
    found = origin(mapped, tf2.constant(rows))
    assert found["op_type"] == "RealDiv" and found["execution"] == 2
    assert found["batch_rows"] == [2] and found["batch"]["size"] == 4


def test_what_map_fn_gives_of_several_rows(tf2, origin) -> None:
    """A blind test: of two rows that are bad after the loop only the first was named."""

    @tf2.function
    def logs(x: Any) -> Any:
        return tf2.reduce_sum(tf2.math.log(tf2.map_fn(lambda row: row * 2.0, x)))

    found = origin(logs, tf2.constant([[1.0, 2.0], [0.0, 4.0], [5.0, 6.0], [7.0, 0.0]]))
    assert found["batch_rows"] == [1, 3] and found["batch"]["size"] == 4


@pytest.mark.parametrize(("flip", "row"), [(True, 3), (False, 0)])
def test_the_branch_that_was_taken_tells_the_row(tf2, origin, flip: bool, row: int) -> None:
    """A blind test: of what a branch had turned round, the row was named that stood there before."""

    @tf2.function
    def logs(x: Any, asked: Any) -> Any:
        return tf2.reduce_sum(tf2.math.log(tf2.cond(asked, lambda: tf2.reverse(x, [0]), lambda: x + 0.0)))

    rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], np.float32)
    rows[row, 1] = 0.0
    assert origin(logs, tf2.constant(rows), tf2.constant(flip))["batch_rows"] == [row]


def test_a_slice_of_the_batch_that_is_not_by_rows_is_none(tf2, origin) -> None:
    @tf2.function
    def columns(x: Any) -> Any:
        total = 0.0
        for i in tf2.range(2):
            total += tf2.math.log(tf2.reduce_sum(x[:, i]))
        return total

    assert origin(columns, tf2.constant([[1.0, -2.0], [3.0, 1.0], [5.0, -7.0]]))["batch_rows"] == []


def test_what_the_counter_of_a_loop_did_is_no_row(tf2, origin) -> None:
    """A blind test: all rows of the batch were blamed, and the chain left out the difference that is 0."""

    @tf2.function
    def solved(x: Any) -> Any:
        def turn(i: Any, z: Any) -> Any:
            return i + 1, z + tf2.tanh(x) / (tf2.cast(i, tf2.float32) - 2.0)

        return tf2.while_loop(lambda i, _: i < 4, turn, [0, x])[1]

    found = origin(solved, tf2.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert found["op_type"] == "RealDiv" and found["execution"] == 2
    assert found["batch_rows"] == [] and found["batch"] is None
    assert "Sub" in [op for link in found["chain"] for op in link["ops"]]
    assert not any(link["given"] for link in found["chain"])


def test_what_a_row_did_in_a_turn_is_that_row(tf2, origin) -> None:
    @tf2.function
    def solved(x: Any) -> Any:
        def turn(i: Any, z: Any) -> Any:
            return i + 1, z + 1.0 / (tf2.cast(i, tf2.float32) - x)

        return tf2.while_loop(lambda i, _: i < 4, turn, [0, x])[1]

    found = origin(solved, tf2.constant([[7.5], [2.0], [5.5]]))
    assert found["op_type"] in ("RealDiv", "Reciprocal") and found["batch_rows"] == [1]
    assert found["chain"][0]["given"] == "input"


def test_a_loop_that_writes_an_array(tf2, origin) -> None:
    @tf2.function
    def gathered(x: Any) -> Any:
        array = tf2.TensorArray(tf2.float32, size=4)
        for i in tf2.range(4):
            array = array.write(i, tf2.math.log(x[i]))
        return tf2.reduce_sum(array.stack())

    found = origin(gathered, tf2.constant([1.0, 2.0, -1.0, 4.0]))
    assert found["op_type"] == "Log" and found["batch_rows"] == [2]


def test_what_was_gathered_leads_back_to_its_turn(tf2, origin) -> None:
    """The array is written from its end, so that the turn is not the row."""

    @tf2.function
    def gathered(x: Any) -> Any:
        array = tf2.TensorArray(tf2.float32, size=4)
        for i in tf2.range(4):
            array = array.write(3 - i, tf2.reduce_sum(x[3 - i]) * 2.0)
        return tf2.math.log(array.stack())

    found = origin(gathered, tf2.constant([[1.0, 1.0], [2.0, -3.0], [1.0, 1.0], [4.0, 1.0]]))
    assert found["op_type"] == "Log" and found["batch_rows"] == [1]


def test_rows_that_a_loop_iterates_over(tf2, origin) -> None:
    @tf2.function
    def summed(x: Any) -> Any:
        total = 0.0
        for row in x:
            total += tf2.reduce_sum(tf2.math.log(row))
        return total

    assert origin(summed, tf2.constant([[1.0, 2.0], [1.0, 3.0], [3.0, -3.0]]))["batch_rows"] == [2]


def test_what_all_turns_made_is_of_no_row(tf2, origin) -> None:
    @tf2.function
    def summed(x: Any) -> Any:
        total = 0.0
        for _ in tf2.range(3):
            total = tf2.math.log(total + 1.0) - tf2.reduce_sum(x)
        return total

    assert origin(summed, tf2.constant([1.0, 2.0, 3.0]))["batch_rows"] == []


def test_an_element_that_is_picked_outside_of_a_loop_is_no_row(tf2, origin) -> None:
    @tf2.function
    def scaled(x: Any) -> Any:
        return tf2.math.log(tf2.reduce_mean(x) * 0.0)

    assert origin(scaled, tf2.constant([1.0, 2.0, 3.0]))["batch_rows"] == []


def test_the_gradient_of_a_loop(tf2, origin) -> None:
    @tf2.function
    def differentiated(x: Any) -> Any:
        with tf2.GradientTape() as tape:
            tape.watch(x)
            mapped = tf2.map_fn(lambda row: tf2.reduce_sum(tf2.sqrt(row)), x)  # the root
        return tape.gradient(mapped, x)

    found = origin(differentiated, tf2.constant([[1.0, 2.0], [1.0, 0.0], [3.0, 3.0]]))
    assert found["op_type"] == "SqrtGrad" and found["batch_rows"] == [1]
    line = next(i for i, row in enumerate(Path(__file__).read_text().splitlines(), 1) if row.endswith("# the root"))
    assert (found["forward"], found["file"], found["line"]) == ("map/while/body/Sqrt", __file__, line)


def test_the_turn_of_an_op_in_a_branch_is_that_which_took_the_branch(tf2, watched) -> None:
    @tf2.function
    def summed(x: Any, start: Any) -> Any:
        total = tf2.constant(0.0)
        for i in tf2.range(9):
            if i % 2 == 1:
                if i >= start:
                    total += tf2.sqrt(x)
                else:
                    total -= x
        return total

    with watched(RunUntil("has_inf_or_nan")) as front:
        summed(tf2.constant(-1.0), tf2.constant(9))
        summed(tf2.constant(-1.0), tf2.constant(5))
    found = json_of("origin", front.ends[0])
    assert found["op_type"] == "Sqrt" and found["execution"] == 0
    assert "Turn      6 of the loop while" in text_of("origin", front.ends[0])


def test_what_is_scattered_comes_of_its_own_row(tf2, origin) -> None:
    """A blind test: the indices were taken for those of a sparse batch, and the place for the row."""

    @tf2.function
    def logs(x: Any) -> Any:
        return tf2.reduce_sum(tf2.math.log(tf2.scatter_nd([[2], [4], [0], [1], [3]], x, [5])))

    assert origin(logs, tf2.constant([1.0, 0.0, 3.0, 4.0, 5.0]))["batch_rows"] == [1]
