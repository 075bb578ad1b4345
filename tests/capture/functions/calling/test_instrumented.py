"""Calls of functions with their values kept: the same results, effects and errors, and every value named."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import tensorflow as tf
from support.instrumented_calls import all_instrumented, called, flat, instrument, made, names, values

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.values import Lack, NoValue

pytestmark = pytest.mark.tf


@tf.function
def shifted(x):
    return tf.nn.relu(x) + 1


def test_every_value_is_named_and_kept_in_order() -> None:
    @tf.function
    def f(x):
        return tf.sin(x) * 2

    x = tf.constant([1.0, 2.0])
    _, outcome = made(f, x)
    assert names(outcome) == ["x:0", "Sin:0", "mul/y:0", "mul:0", "Identity:0"]
    np.testing.assert_array_equal(values(outcome, "mul")[0], f(x))
    np.testing.assert_array_equal(outcome.outputs[0], f(x))
    tensor = outcome.captured[3]
    assert (tensor.dtype, tensor.shape, tensor.nbytes, tensor.op_type) == ("float32", (2,), 8, "Mul")
    assert outcome.notes == ()


def test_values_of_a_function_called_twice_bear_the_scope_of_each_call() -> None:
    @tf.function
    def f(x):
        return shifted(shifted(x))

    _, outcome = made(f, tf.constant([-1.0, 2.0]))
    assert values(outcome, "shifted/Relu")[0].tolist() == [0, 2]
    assert values(outcome, "shifted_1/Relu")[0].tolist() == [1, 3]
    found = names(outcome)
    assert len(set(found)) == len(found)


def test_handles_are_listed_without_being_given_back() -> None:
    v = tf.Variable([1.0], name="weight")

    @tf.function
    def f():
        return v + tf.TensorArray(tf.float32, 1).write(0, v).stack()[0]

    _, outcome = made(f)
    variants = [i for i in range(len(outcome.captured)) if outcome.captured[i].dtype == "variant"]
    assert variants
    for value in map(outcome.captured.value, variants):
        assert isinstance(value, NoValue)
        assert value.lack is Lack.OPAQUE
    assert "weight" not in names(outcome), "what a captured variable holds stands among the feeds"


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("within", ["function", "call", "loop"])
def test_what_the_branch_that_was_taken_did_not_compute_has_no_value(taken, within) -> None:
    """For XLA a branch gives what the other computes for its gradient, too: memory as it happened to be."""
    w = tf.Variable(np.full((3, 3), 2, "f"), name="w")

    def slope(x):
        with tf.GradientTape() as tape:
            y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.relu(x @ w) * 3.0, lambda: tf.exp(x @ w) @ w)
        return tape.gradient(y, w)

    bodies = {
        "function": slope,
        "call": tf.function(slope),
        "loop": lambda x: tf.while_loop(
            lambda i, total: i < 2, lambda i, total: (i + 1, total + slope(x)), [0, tf.zeros((3, 3))]
        )[1],
    }
    function = tf.function(lambda x: bodies[within](x), jit_compile=True)
    x = tf.constant(np.eye(3, dtype="f") if taken else -np.eye(3, dtype="f"))
    _, outcome = made(function, x)
    assert not [name for name in names(outcome) if "FakeParam" in name]
    store = outcome.captured
    rows = [row for row in range(len(store)) if store[row].op_type == "If"]
    computed = [row for row in rows if not isinstance(store.value(row), NoValue)]
    missing = [store.value(row) for row in rows if row not in computed]
    assert len(computed) > len(rows) / 4
    assert {value.lack for value in missing} == {Lack.UNINITIALIZED}
    assert {value.text for value in missing} == {"The branch that was taken does not compute it."}
    known = {store.value(row).tobytes() for row in range(len(store)) if row not in rows and store[row].shape}
    assert all(store.value(row).tobytes() in known for row in computed), "each is what an op of the branch gave"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64", "float8_e5m2", "uint8", "bool"])
def test_element_types_come_through(dtype) -> None:
    @tf.function
    def f(x):
        return tf.cast(x, dtype)

    _, outcome = made(f, tf.constant([1.0, 0.0, 1.0]))
    (value,) = values(outcome, "Cast")
    assert value.dtype.name == dtype
    assert value.astype("complex64").real.tolist() == [1, 0, 1]


def test_texts_and_empty_arrays_come_through() -> None:
    @tf.function
    def f(x):
        return tf.strings.join([x, "é"]), tf.zeros([0, 3])

    _, outcome = made(f, tf.constant([b"\xff", b"\x1b[31m"]))
    assert values(outcome, "StringJoin")[0].tolist() == [b"\xff\xc3\xa9", b"\x1b[31m\xc3\xa9"]
    assert values(outcome, "zeros")[0].shape == (0, 3)


def test_variables_are_updated_once_and_values_show_the_moment_of_reading() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f():
        before = v.read_value()
        v.assign_add(2.0)
        return before + v

    concrete = f.get_concrete_function()
    outputs, captured = called(instrument(concrete), concrete.captured_inputs)
    assert float(outputs[0]) == 4.0
    assert float(v) == 3.0
    read = [captured.value(i) for i in range(len(captured)) if captured[i].op_type == "ReadVariableOp"]
    assert sorted(map(float, read)) == [1.0, 3.0]
    v.assign(100.0)
    assert sorted(map(float, read)) == [1.0, 3.0]


def test_prints_keep_their_order(capfd) -> None:
    @tf.function
    def f(x):
        for i in tf.range(2):
            tf.print("turn", i)
        tf.print("end")
        return x

    made(f, tf.constant(1.0))
    assert capfd.readouterr().err.split("\n")[:3] == ["turn 0", "turn 1", "end"]


def test_what_nobody_needs_is_not_computed() -> None:
    """An op that the runtime leaves out could raise an error that the program never sees."""

    @tf.function
    def pair(x):
        return x + 1, tf.linalg.inv(x)

    @tf.function
    def f(x):
        tf.linalg.inv(x)
        return pair(x)[0]

    singular = tf.zeros([2, 2])
    f(singular)
    _, outcome = made(f, singular)
    assert outcome.error is None
    assert not any("Inv" in name or "inv" in name for name in names(outcome))


def test_an_error_is_of_the_same_type_and_has_the_same_words() -> None:
    @tf.function
    def inner(x):
        return tf.linalg.inv(x)

    @tf.function
    def f(x):
        return inner(x) + 1

    x = tf.zeros([2, 2])
    with pytest.raises(tf.errors.OpError) as original:
        f(x)
    with all_instrumented(), pytest.raises(tf.errors.OpError) as ours:
        f(x)
    assert type(ours.value) is type(original.value)
    assert str(ours.value) == str(original.value)


def test_the_wrong_number_of_inputs_is_an_error_and_the_next_call_works() -> None:
    concrete = shifted.get_concrete_function(tf.ones(2))
    instrumented = instrument(concrete)
    with pytest.raises(tf.errors.OpError):
        called(instrumented, [])
    assert called(instrumented, [tf.ones(2)])[0][0].numpy().tolist() == [2, 2]


def test_gradients_of_a_tape_outside() -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        return tf.reduce_sum(tf.sin(v * x) ** 2)

    def gradients(persistent):
        x = tf.constant([3.0, 4.0])
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, [v, x])

    for persistent in (False, True):
        expected = gradients(persistent)
        with all_instrumented() as found:
            got = gradients(persistent)
        for mine, theirs in zip(got, expected, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        assert len(found) == 2  # forward and backward
        assert "Sin:0" in names(found[0][1])


def test_second_gradients() -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        return tf.reduce_sum(tf.sin(v * x) ** 2)

    def jacobian():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = f(tf.constant([3.0, 4.0]))
            first = inner.gradient(y, v)
        return outer.jacobian(first, v)

    expected = jacobian()
    with all_instrumented():
        np.testing.assert_array_equal(jacobian(), expected)


def test_custom_gradients() -> None:
    @tf.custom_gradient
    def h(x):
        return x * x, lambda dy: dy * 20 * x

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = h(x)
        return tape.gradient(y, x), tf.recompute_grad(lambda q: tf.sin(q))(x)

    x = tf.constant([0.5, 1.5])
    _, outcome = made(f, x)
    for mine, theirs in zip(outcome.outputs, f(x), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_composite_arguments_and_results() -> None:
    @tf.function
    def f(ragged, sparse):
        return ragged * 2.0, tf.sparse.add(sparse, sparse), None

    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    sparse = tf.sparse.from_dense([[0.0, 2.0], [3.0, 0.0]])
    with all_instrumented() as found:
        doubled, added, nothing = f(ragged, sparse)
    assert doubled.to_list() == [[2, 4], [6]]
    assert tf.sparse.to_dense(added).numpy().tolist() == [[0, 4], [6, 0]]
    assert nothing is None
    assert len(found) == 1


def test_iterators_and_optionals_advance_once() -> None:
    iterator = iter(tf.data.Dataset.range(6).batch(2))

    @tf.function
    def f(it):
        return tf.reduce_sum(next(it)), it.get_next_as_optional()

    with all_instrumented():
        total, optional = f(iterator)
    assert int(total) == 1
    assert optional.get_value().numpy().tolist() == [2, 3]
    assert next(iterator).numpy().tolist() == [4, 5]


def test_deferred_captures() -> None:
    number = [1.0]

    @tf.function
    def f(x):
        graph = tf.compat.v1.get_default_graph()
        return x + graph.capture_call_time_value(lambda: tf.constant(number[0]), tf.TensorSpec([]))

    concrete = f.get_concrete_function(tf.constant(1.0))
    instrumented = instrument(concrete)
    number[0] = 5.0
    outputs, _ = called(instrumented, [tf.constant(1.0), *concrete.captured_inputs])
    assert float(outputs[0]) == 6.0


def test_random_numbers_are_the_same_and_those_that_are_not_are_announced() -> None:
    generator = tf.random.Generator.from_seed(5)

    @tf.function
    def f():
        return generator.uniform([3]), tf.random.stateless_uniform([4], [1, 2])

    expected = f()
    generator.reset_from_seed(5)
    _, outcome = made(f)
    for mine, theirs in zip(outcome.outputs, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert outcome.notes == ()

    @tf.function
    def g():
        return tf.random.uniform([2], seed=3)

    _, outcome = made(g)
    assert "RandomUniform" in outcome.notes[0]


def test_seeded_numbers_of_ops_run_on_from_one_captured_call_to_the_next() -> None:
    def program():
        tf.random.set_seed(7)

        @tf.function
        def f():
            return tf.random.uniform([2])

        return f

    plain, captured = program(), program()
    instrumented = instrument(captured.get_concrete_function())
    expected = [plain().numpy().tolist() for _ in range(3)]
    assert [called(instrumented, [])[0][0].numpy().tolist() for _ in range(3)] == expected


def test_a_function_loaded_from_a_saved_model(tmp_path) -> None:
    class Model(tf.Module):
        def __init__(self):
            self.v = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def __call__(self, x):
            self.v.assign_add(1.0)
            for _ in tf.range(2):
                x = x * self.v
            return {"y": tf.nn.relu(x)}

    tf.saved_model.save(Model(), str(tmp_path))
    plain, loaded = tf.saved_model.load(str(tmp_path)), tf.saved_model.load(str(tmp_path))
    expected = plain(tf.ones(2))["y"].numpy().tolist()
    with all_instrumented() as found:
        assert loaded(tf.ones(2))["y"].numpy().tolist() == expected
    muls = [values(outcome, name[:-2]) for _, outcome in found for name in set(names(outcome)) if "body/mul:" in name]
    assert [float(value[0]) for value in muls[0]] == [3, 9]
    with all_instrumented() as found:
        loaded.signatures["serving_default"](tf.ones(2))
    assert found
    assert float(loaded.v) == 4.0


def test_a_function_with_control_flow_of_version_1() -> None:
    v1 = tf.compat.v1
    graph = v1.Graph()
    with graph.as_default():
        v1.disable_control_flow_v2()
        try:
            x = v1.placeholder(tf.float32, [2], name="x")
            _, y = v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), [tf.constant(0), x])
            z = tf.identity(v1.cond(tf.reduce_sum(y) > 1, lambda: y + 1, lambda: y - 1), name="z")
        finally:
            v1.enable_control_flow_v2()
    wrapped = v1.wrap_function(
        lambda x: tf.import_graph_def(graph.as_graph_def(), input_map={"x:0": x}, return_elements=[z.name]),
        [tf.TensorSpec([2])],
    )
    outcome = instrument(wrapped).perform([tf.ones(2)])
    assert outcome.outputs[0].numpy().tolist() == [9, 9]
    assert float(values(outcome, "import/Sum")[0]) == 16.0
    assert "version 1" in outcome.notes[0]
    assert not any("NextIteration" in name for name in names(outcome))


def test_the_rewritten_function_goes_with_the_original() -> None:
    @tf.function
    def f(x):
        return tf.sin(x) + 1

    concrete = f.get_concrete_function(tf.ones(3))
    instrumented = instrument(concrete)
    called(instrumented, [tf.ones(3)])
    name = next(iter(instrumented._idle)).exposed.name
    assert compat.function_definition(name) is not None
    gone = weakref.ref(instrumented)
    del instrumented, concrete, f
    gc.collect()
    assert gone() is None
    assert compat.function_definition(name) is None


def test_a_function_that_the_runtime_does_not_know_is_refused(monkeypatch) -> None:
    concrete = shifted.get_concrete_function(tf.ones([2, 2]))
    monkeypatch.setattr(compat, "function_definition", lambda name: None)
    with pytest.raises(TfdbgError, match="shifted"):
        instrument(concrete)


def test_flat_takes_variables_and_composites() -> None:
    assert len(flat(tf.ragged.constant([[1], []]), tf.constant(1))) == 3
