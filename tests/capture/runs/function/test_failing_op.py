"""What the op that fails in a function was given, shown although the function gives nothing back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.capture.functions.definition.failing_ops import failing_ops
from tfdbg_cli.capture.functions.graph.scopes import scope_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.model.decision import CaptureRequest, Continue, DebugRun, RunUntil
from tfdbg_cli.model.runs import Run

pytestmark = pytest.mark.tf
RUN = DebugRun()
GOING_ON = Continue()


def failed(watched, decision, function, *arguments: Any) -> Run:
    """The run in which `function` raises."""
    with watched(decision) as front, pytest.raises(tf.errors.OpError):
        function(*arguments)
    (end,) = front.ends
    assert end.run.error is not None
    return end.run


def given(run: Run) -> list[Any]:
    """The values that the failing op was given, as the person sees them."""
    assert run.error is not None and run.error.node is not None
    node = run.graph.find(run.error.node)
    assert node is not None
    return [item.value for item in Lineage(run).inputs_of_node(node)]


def weighted():
    """A step that spoils its weight, and then multiplies by it what it cannot be multiplied with."""
    weight = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], name="weight")
    batches = iter(tf.data.Dataset.from_tensors([[7.0, 8.0]]).repeat())

    @tf.function
    def layer(x, count):
        return tf.matmul(x, weight[:, :count], name="product")

    return weight, batches, layer


@pytest.mark.parametrize("decision", [RUN, GOING_ON], ids=["captured", "left alone"])
def test_in_a_nested_call_behind_reads_of_variables(watched, decision) -> None:
    weight, _, layer = weighted()

    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def step(x):
        y = layer(x, 3)
        z = layer(tf.transpose(y) * 2.0, 1)  # (3, 1) by (2, 1)
        weight.assign(tf.zeros([2, 3]) * tf.reduce_sum(z))
        return z

    run = failed(watched, decision, step, tf.constant([[1.0, 1.0]]))
    assert run.error.node == "layer_1/product"
    left, right = given(run)
    np.testing.assert_array_equal(left, [[10.0], [14.0], [18.0]])
    np.testing.assert_array_equal(right, [[1.0], [4.0]])
    assert "computed again" in run.error.inputs_note
    np.testing.assert_array_equal(weight.numpy(), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def test_behind_a_variable_that_the_run_has_changed(watched) -> None:
    weight = tf.Variable([1.0, 2.0], name="weight")

    @tf.function
    def step(x):
        weight.assign_add([10.0, 10.0])
        return tf.debugging.check_numerics(tf.math.log(x - weight), "not well")

    x = tf.constant([20.0, 12.0])
    run = failed(watched, RUN, step, x)
    np.testing.assert_array_equal(given(run)[0], [np.log(np.float32(9.0)), -np.inf])
    run = failed(watched, GOING_ON, step, x)
    assert given(run) == [None]
    assert "weight" in run.error.inputs_note and "captured" in run.error.inputs_note
    np.testing.assert_array_equal(weight.numpy(), [21.0, 22.0])


def test_behind_a_batch_that_the_run_drew(watched) -> None:
    _, batches, layer = weighted()

    @tf.function
    def step(rows):
        return layer(tf.reshape(next(batches), tf.stack([rows, -1])), 2)

    run = failed(watched, RUN, step, tf.constant(2))
    np.testing.assert_array_equal(given(run)[0], [[7.0], [8.0]])
    run = failed(watched, GOING_ON, step, tf.constant(2))
    assert given(run)[0] is None
    assert "IteratorGetNext" in run.error.inputs_note


def test_behind_numbers_drawn_at_random(watched) -> None:
    generator = tf.random.Generator.from_seed(1)

    @tf.function
    def step(x):
        y = x + generator.normal([2]) + tf.random.uniform([2])
        return tf.debugging.check_numerics(y / 0.0, "not well")

    start = generator.state.numpy()
    run = failed(watched, RUN, step, tf.constant([1.0, -100.0]))
    np.testing.assert_array_equal(given(run)[0], [np.inf, -np.inf])
    assert not np.array_equal(generator.state.numpy(), start), "the run itself moves the generator on, once"


def test_in_a_turn_of_a_loop_the_values_of_that_turn(watched) -> None:
    @tf.function
    def count_down(x):
        for _ in tf.range(10):
            x = tf.debugging.check_numerics(tf.math.log(x), "not well", name="checked")
        return x

    run = failed(watched, RUN, count_down, tf.constant([5.0, 3.0]))
    assert run.error.node == "while/body/checked"
    x = np.float32([5.0, 3.0])
    while np.isfinite(x).all():
        with np.errstate(all="ignore"):
            x = np.log(x)
    np.testing.assert_allclose(given(run)[0], x, rtol=1e-6)
    rows = run.tensors.named("while/body/Log")
    assert [run.tensors[row].execution for row in rows] == list(range(len(rows)))


def test_a_turn_that_failed_has_the_variables_of_the_loops_around_it(watched) -> None:
    @tf.function(autograph=False)
    def nested(x):
        def inner(i, y):
            return i + 1, tf.debugging.check_numerics(tf.math.log(y), "not well")

        def outer(i, y):
            return i + 1, tf.while_loop(lambda i, _: i < 2, inner, [0, y + 1.0])[1]

        return tf.while_loop(lambda i, _: i < 5, outer, [0, x])[1]

    run = failed(watched, RUN, nested, tf.constant([9.0, 2.0]))
    x = np.float32([9.0, 2.0])
    turns = []  # of the inner loop, what each began with
    for turn in range(10):
        x = x + 1 if turn % 2 == 0 else x
        turns.append(x)
        with np.errstate(all="ignore"):
            x = np.log(x)
        if not np.isfinite(x).all():
            break
    origin = OriginSearch(run).first()
    assert run.tensors[origin.index].execution == len(turns) - 1
    np.testing.assert_allclose(origin.inputs[0].value, turns[-1], rtol=1e-5)
    assert origin.cause.text.startswith(("Log of a negative number", "Log of 0"))


def test_in_a_branch(watched) -> None:
    @tf.function
    def careful(x):
        if tf.reduce_sum(x) > 0.0:
            return tf.debugging.check_numerics(tf.sqrt(x), "not well", name="checked")
        return x

    for decision in (RUN, GOING_ON):
        run = failed(watched, decision, careful, tf.constant([4.0, -1.0]))
        np.testing.assert_array_equal(given(run)[0], [2.0, np.nan])


def test_a_decomposition_that_fails(watched) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def solve(x):
        return tf.linalg.inv(x - 1.0)

    run = failed(watched, RUN, solve, tf.ones([2, 2]))
    np.testing.assert_array_equal(given(run)[0], np.zeros((2, 2)))


def test_one_function_called_twice_tells_which_call_failed(watched) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def inverse(x):
        return tf.linalg.inv(x, name="inverse")

    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def solve(x):
        return inverse(inverse(x) - tf.eye(2))

    run = failed(watched, RUN, solve, tf.eye(2))
    assert run.error.node == "inverse_1/inverse"
    np.testing.assert_array_equal(given(run)[0], np.zeros((2, 2)))


def test_all_that_came_before_is_there_so_that_the_origin_is_found(watched) -> None:
    weight = tf.Variable([[1.0, 0.0]], name="weight")

    @tf.function
    def step(x):
        ratio = tf.math.divide(x, weight, name="ratio")
        loss = tf.reduce_sum(tf.nn.relu(ratio))
        weight.assign_sub(weight * loss)
        return tf.debugging.check_numerics(loss, "not well", name="checked")

    run = failed(watched, RUN, step, tf.constant([[1.0, 2.0]]))
    origin = OriginSearch(run).first()
    assert origin is not None and origin.name.node == "ratio"
    assert "Assign" not in {run.tensors[row].op_type for row in range(len(run.tensors))}


def test_a_narrowed_capture_shows_the_inputs_and_what_was_asked_for(watched) -> None:
    @tf.function
    def step(x):
        return tf.debugging.check_numerics(tf.math.log(tf.sqrt(x, name="root"), name="logarithm"), "not well")

    narrowed = DebugRun(CaptureRequest(node_name_filter="^x$"))
    run = failed(watched, narrowed, step, tf.constant([0.0]))
    assert {run.tensors[row].node for row in range(len(run.tensors))} == {"x", "logarithm"}


def test_the_end_of_the_data_costs_nothing(watched, monkeypatch) -> None:
    from tfdbg_cli.capture.runs.function import failing_op

    batches = iter(tf.data.Dataset.range(1))

    @tf.function
    def step():
        return next(batches)

    step()
    monkeypatch.setattr(failing_op, "replay_wanted", None)
    run = failed(watched, RUN, step)
    assert run.error.node == "IteratorGetNext"
    assert run.error.inputs_note == ""


def test_names_in_errors_are_those_of_a_nodes_own_function_or_of_the_run() -> None:
    @tf.function
    def inner(x):
        return tf.math.log(x)

    @tf.function
    def outer(x):
        for _ in tf.range(2):
            x = inner(x)
        return tf.math.log(x)

    concrete = outer.get_concrete_function(tf.constant(1.0))
    root = scope_of(concrete)
    assert compat.atomic_of(concrete).name.decode() == root.body.name
    assert [op.name for op in failing_ops(root, "while/body/inner/Log")] == ["while/body/inner/Log"]
    assert {op.name for op in failing_ops(root, "Log")} == {"Log"}
    assert {op.name for op in failing_ops(root, "inlined/Log")} == {"Log", "while/body/inner/Log"}
    assert failing_ops(root, "elsewhere") == []


UNTIL = RunUntil("has_inf_or_nan")


def training_lookup():
    """A step with an optimizer by hand that looks up rows of a table, of which it has four."""
    table = tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3), name="table")
    kept = tf.Variable([1.0, 2.0], name="kept")
    steps = tf.Variable(0, name="steps")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def step(rows):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table * 2.0, rows, name="looked_up") ** 2)
        rate = 0.1 / tf.cast(steps + 1, tf.float32)
        table.assign_sub(rate * tf.convert_to_tensor(tape.gradient(loss, table)))
        kept.assign(kept + loss)
        steps.assign_add(1)  # this may have happened when the lookup fails: it needs nothing of the above
        return loss

    return (table, kept, steps), step


def test_variables_that_a_watched_run_cannot_have_changed_are_known_after_its_error(watched) -> None:
    kept, step = training_lookup()
    run = failed(watched, UNTIL, step, tf.constant([1, 9]))
    assert run.error.node == "looked_up"
    params, rows, _ = given(run)
    np.testing.assert_array_equal(params, np.arange(12).reshape(4, 3) * 2)
    np.testing.assert_array_equal(rows, [1, 9])
    assert len(run.tensors) > 3
    assert "could not be made again" not in " ".join(run.notes)
    assert kept


def test_a_variable_that_a_watched_run_may_have_changed_is_not_taken_for_unchanged(watched) -> None:
    table = tf.Variable(np.ones([4, 3], np.float32), name="table")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def step(rows):
        before = tf.reduce_sum(table)
        table.assign_add(tf.ones([4, 3]))  # this may have happened by then
        return before * tf.reduce_sum(tf.gather(tf.eye(4), rows, name="looked_up"))

    run = failed(watched, UNTIL, step, tf.constant([1, 9]))
    shown = [run.tensors.value(row) for row in range(len(run.tensors))]
    assert not any(np.array_equal(value, np.full([4, 3], 2.0)) for value in shown)
    assert "The variable table is not known as it was before the run" in " ".join(run.notes)


def test_the_error_of_a_value_that_is_computed_once_more_for_a_check_names_the_programs_op(watched) -> None:
    """A check reads what is looked up, which the plain function gives to nobody as it is: it is looked up twice."""
    kept, step = training_lookup()
    with pytest.raises(tf.errors.InvalidArgumentError) as plain:
        step(tf.constant([1, 9]))
    for _ in range(5):  # whichever of the two fails first
        with watched(UNTIL), pytest.raises(tf.errors.InvalidArgumentError) as debugged:
            step(tf.constant([1, 9]))
        assert debugged.value.message == plain.value.message
    assert kept


@pytest.mark.parametrize("decision", [RUN, GOING_ON, UNTIL], ids=["captured", "left alone", "watched"])
def test_of_ops_that_are_called_the_same_in_branches_the_one_of_the_branch_that_was_taken(watched, decision) -> None:
    weight = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="weight")

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([None, None])])
    def chosen(kind, x):
        return tf.switch_case(kind, [lambda: tf.matmul(weight, x), lambda: tf.matmul(x, weight + 1.0), lambda: x])

    run = failed(watched, decision, chosen, tf.constant(1), tf.ones([2, 3]))
    assert run.error.node == "switch_case/indexed_case/branch1/MatMul"
    left, right = given(run)
    np.testing.assert_array_equal(left, np.ones((2, 3)))
    np.testing.assert_array_equal(right, [[2.0, 3.0], [4.0, 5.0]])


def test_a_watched_run_with_dropout_that_fails_knows_what_was_drawn_until_then(watched) -> None:
    state = tf.Variable([7, 0], dtype=tf.int64, name="state")
    table = tf.Variable(np.ones([4, 3], np.float32), name="table")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def step(rows):
        seed = tf.identity(state)
        state.assign_add([0, 1])  # this may have happened when the lookup fails
        kept = tf.nn.experimental.stateless_dropout(table, 0.5, seed)
        return tf.reduce_sum(tf.gather(kept * 3.0, rows, name="looked_up"))

    step(tf.constant([1]))
    dropped = tf.nn.experimental.stateless_dropout(tf.ones([4, 3]), 0.5, state)
    run = failed(watched, UNTIL, step, tf.constant([1, 9]))
    np.testing.assert_array_equal(given(run)[0], dropped * 3.0)


@pytest.mark.parametrize("decision", [RUN, RunUntil("has_inf_or_nan")], ids=["captured", "watched"])
def test_what_does_not_need_it_is_looked_at_too(watched, decision) -> None:
    weight = tf.Variable(tf.fill([3, 3], 0.5))

    @tf.function
    def step(x):
        z = x @ weight
        squared = tf.matmul(z, z, transpose_a=True)
        # By the inverse the gradient of the determinant was computed before TensorFlow 2.22.
        return -tf.linalg.slogdet(squared)[1], tf.linalg.inv(squared)

    run = failed(watched, decision, step, tf.zeros([4, 3]))
    assert run.error.node.endswith("MatrixInverse"), "the inverse of a matrix whose determinant is 0"
    origin = OriginSearch(run).first()
    assert str(run.tensors[origin.index].name) == "LogMatrixDeterminant:1"


@pytest.mark.parametrize("check", [tf.debugging.check_numerics, tf.debugging.assert_all_finite])
def test_a_check_of_the_programs_own_behind_the_updates_leaves_an_origin(watched, check) -> None:
    """A blind test: the weight was read in the call itself, which gave nothing back as it failed."""
    weight = tf.Variable(tf.fill([64, 64], 0.5), name="weight")

    @tf.function
    def step(x):
        y = tf.math.log(x @ weight, name="log")
        weight.assign_sub(0.1 * tf.ones_like(weight))
        with tf.control_dependencies([weight.read_value()]):
            return check(tf.reduce_mean(y), "the loss is bad")

    run = failed(watched, RunUntil("has_inf_or_nan"), step, tf.zeros([2, 64]))
    assert run.error is not None and "the loss is bad" in run.error.message
    origin = OriginSearch(run).first()
    assert origin is not None and origin.name.node == "log"


def test_a_variable_that_a_failed_run_left_bad_is_shown_so(watched) -> None:
    """A blind test: the update did not wait for the check, and the NaN was put down to "an earlier run" later."""
    weight = tf.Variable([[1.0], [2.0]], name="weight")

    @tf.function
    def step(x):
        update = weight.assign_sub(tf.transpose(x) @ tf.ones([3, 1]))
        with tf.control_dependencies([update]):
            tf.debugging.assert_all_finite(x, "bad input")
        return x

    x = np.ones([3, 2], np.float32)
    x[1, 1] = np.nan
    run = failed(watched, RunUntil("bad_result"), step, tf.constant(x))
    row = run.tensors.named("weight/after_update")
    assert np.isnan(run.tensors.value(row[0])).any()
    origin = OriginSearch(run).first()
    assert origin is not None and str(origin.name) == "x:0"
