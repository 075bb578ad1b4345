"""Gradients read variables that ops of the forward pass were given themselves, and no inputs of unknown origin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import tensorflow as tf

import tfdbg_cli
from tfdbg_cli.model.runs import Run

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("undebugged")]


def _run(path: Path, step: Callable[[], None]) -> Run:
    with tfdbg_cli.record(path), tfdbg_cli.run("step"):
        step()
    (run,) = tfdbg_cli.open_recording(path).runs
    return run


def _read_by(run: Run, op_type: str) -> list[str]:
    """The op types of what the gradient of that op type reads."""
    node = next(
        one for one in run.graph.by_name().values() if one.op_type == op_type and one.name.startswith("gradient_tape")
    )
    return [run.graph.find(given.node).op_type for given in node.inputs]  # type: ignore[union-attr]


@pytest.mark.parametrize("value", [[2.0, 3.0], 2.5], ids=["array", "number"])
def test_a_variable_that_was_read_on_the_way(tmp_path: Path, value: object) -> None:
    """Of `tf.pow(w, 0.5)` with a 0 in w the weight was told as a batch: "row 1 of 3; fed as input_5"."""
    weight, other = tf.Variable(value), tf.Variable(value)

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.log(weight))
        other.assign(weight * 3.0)
        weight.assign_sub(tape.gradient(loss, weight))

    run = _run(tmp_path / "runs", step)
    assert _read_by(run, "Reciprocal") == ["ReadVariableOp"]


@pytest.mark.parametrize("shape", [None, [None]], ids=["rank", "size"])
def test_a_variable_of_which_the_shape_may_change(tmp_path: Path, shape: object) -> None:
    weight = tf.Variable([2.0, 3.0], shape=tf.TensorShape(shape))

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.log(weight))
        tape.gradient(loss, weight)

    assert _read_by(_run(tmp_path / "runs", step), "Reciprocal") == ["ReadVariableOp"]


def test_one_of_two_that_hold_the_same(tmp_path: Path) -> None:
    weights = [tf.Variable([2.0, 3.0]) for _ in range(2)]

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sqrt(weights[0]) * tf.math.log(weights[1]))
        tape.gradient(loss, weights)

    run = _run(tmp_path / "runs", step)
    (slope,) = (one for one in run.graph.by_name().values() if one.op_type == "Reciprocal")
    (log,) = (one for one in run.graph.by_name().values() if one.op_type == "Log")
    assert slope.inputs == log.inputs


def test_a_number_of_the_program_is_no_variable_that_holds_the_same(tmp_path: Path) -> None:
    weight = tf.Variable(2.0)

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.pow(weight, 2.0)
        tape.gradient(loss, weight)

    run = _run(tmp_path / "runs", step)
    assert "ReadVariableOp" not in _read_by(run, "Sub"), "the exponent, less 1"


def test_what_was_updated_before_its_gradient_stays_as_it_was(tmp_path: Path) -> None:
    weight = tf.Variable([2.0, 3.0])

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.log(weight))
        weight.assign([5.0, 7.0])
        tape.gradient(loss, weight)

    run = _run(tmp_path / "runs", step)
    assert [array.tolist() for array in run.call.feeds.values() if array.shape == (2,)] == [[5.0, 7.0], [2.0, 3.0]]
