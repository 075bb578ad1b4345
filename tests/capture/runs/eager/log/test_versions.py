"""What variables held between their updates, told from all that the log of eager ops has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.capture.runs.eager.log.noted_ops import LATER, taken
from tfdbg_cli.capture.runs.eager.log.recent import RecentOps
from tfdbg_cli.capture.runs.eager.log.run_of_log import parts_of_run
from tfdbg_cli.model.values import NoValue, Value

pytestmark = pytest.mark.tf


class Program:
    """A program of ops on one variable, each of which is noted in a log as the watch notes it."""

    def __init__(self, value: Sequence[float], dtype: tf.DType = tf.float32) -> None:
        self.variable = tf.Variable(value, dtype=dtype)
        self.held = [self.variable.numpy()]  # before each update, and after the last
        self.log = RecentOps(1 << 20)

    def read(self) -> None:
        """Read the variable by an op of its own, as `tf.identity(v)` does."""
        self.log.add("ReadVariableOp", [self.variable.handle], (), (taken(self.variable.read_value()),), [], "")

    def use(self) -> None:
        """Give the variable to an op that reads it on the way."""
        self.log.add("Square", [self.variable], (), (taken(tf.square(self.variable)),), [], "")

    def update(self, op_type: str, given: object) -> None:
        tensor = tf.convert_to_tensor(given, self.variable.dtype)
        {
            "AssignVariableOp": self.variable.assign,
            "AssignAddVariableOp": self.variable.assign_add,
            "AssignSubVariableOp": self.variable.assign_sub,
            "ResourceScatterAdd": lambda given: self.variable.assign(self.variable + given),
        }[op_type](tensor)
        op = self.log.add(op_type, [self.variable.handle, tensor], (), (), [], "")
        self.log.wrote(op, self.variable.handle, LATER, keep=False)
        self.held.append(self.variable.numpy())

    def values(self, op_type: str) -> list[Value]:
        store = parts_of_run(self.log, lambda _: "").store
        return [store.value(row) for row in range(len(store)) if store[row].op_type == op_type]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.int64], ids=str)
def test_sums_assignments_and_reads_are_told(dtype: tf.DType) -> None:
    program = Program([1, 2], dtype)
    program.read()
    program.use()
    program.update("AssignSubVariableOp", [0.1 if dtype.is_floating else 3] * 2)
    program.use()
    program.update("AssignAddVariableOp", [0.7 if dtype.is_floating else 5] * 2)
    program.update("AssignVariableOp", [4, 5])
    program.use()
    program.update("ResourceScatterAdd", [1, 1])
    program.read()
    program.update("AssignAddVariableOp", [2, 2])
    first, *_ = program.held
    np.testing.assert_array_equal(program.values("UpdatedVariable"), program.held[1:])
    read = [first, first, program.held[1], program.held[3], program.held[4]]
    np.testing.assert_array_equal(program.values("ReadVariableOp"), read)


def test_what_nothing_tells_is_said_to_be_gone() -> None:
    program = Program([1, 2])
    program.use()  # nothing before it, and an update behind it
    program.update("ResourceScatterAdd", [1, 1])
    program.update("AssignAddVariableOp", [1, 1])
    program.update("ResourceScatterAdd", [1, 1])
    assert all(isinstance(value, NoValue) for value in program.values("ReadVariableOp"))
    scattered, added, last = program.values("UpdatedVariable")
    assert isinstance(scattered, NoValue)
    assert isinstance(added, NoValue)
    np.testing.assert_array_equal(last, program.held[-1])


@pytest.mark.parametrize("added", [1e-40, np.inf, np.nan], ids=["subnormal", "infinity", "nan"])
def test_sums_that_processors_may_round_otherwise_are_not_told(added: float) -> None:
    program = Program([1, 2])
    program.read()
    program.update("AssignAddVariableOp", [added, 1])
    program.update("ResourceScatterAdd", [1, 1])
    first, _ = program.values("UpdatedVariable")
    assert isinstance(first, NoValue)


def test_an_update_that_the_log_did_not_see_is_found_by_the_reads_around_it() -> None:
    program = Program([1, 2])
    program.read()
    program.variable.assign([3, 4])
    program.read()
    program.use()
    program.update("ResourceScatterAdd", [1, 1])
    *_, used = program.values("ReadVariableOp")
    assert isinstance(used, NoValue)


def test_what_a_function_may_have_written_is_not_what_was_there_before() -> None:
    program = Program([1, 2])
    program.read()
    call = program.log.add("PartitionedCall", [program.variable.handle], (), (), [], "")
    program.log.wrote_unseen(call, [program.variable.handle])
    program.variable.assign([3, 4])
    program.use()
    program.update("ResourceScatterAdd", [1, 1])
    read, used = program.values("ReadVariableOp")
    np.testing.assert_array_equal(read, [1, 2])
    assert isinstance(used, NoValue)


def test_many_updates_are_told_one_after_the_other() -> None:
    program = Program([0], tf.int64)
    program.read()
    for _ in range(3000):
        program.update("AssignAddVariableOp", [1])
    program.update("ResourceScatterAdd", [1])
    np.testing.assert_array_equal(program.values("UpdatedVariable"), program.held[1:])


def test_a_log_that_holds_reads_knows_what_a_small_variable_held_before_its_update() -> None:
    """The health of kept runs of `x @ w; w.assign_sub(…)` was "?"."""
    program = Program([1, 2])
    program.log.holds_reads = True
    program.use()
    program.update("ResourceScatterAdd", [1, 1])
    (read,) = program.values("ReadVariableOp")
    np.testing.assert_array_equal(read, [1, 2])
    large = Program([1] * 20_000)
    large.log.holds_reads = True
    large.use()
    large.update("ResourceScatterAdd", [1] * 20_000)
    (read,) = large.values("ReadVariableOp")
    assert isinstance(read, NoValue)
