"""Functions with their plain calls inlined, and parts of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tfdbg_cli.model.names import TensorName

pytestmark = pytest.mark.tf
_NUMBERS = itertools.count()


def _root(function, *arguments):
    from tfdbg_cli.capture.functions.graph.scopes import scope_of

    concrete = function.get_concrete_function(*arguments)
    return concrete, scope_of(concrete)


def _run(part, values: dict[TensorName, object]):
    from tfdbg_cli.capture.tf import compat

    compat.add_function(part.definition)
    try:
        return compat.run_function(
            part.definition.signature.name, [values[name] for name in part.inputs], len(part.outputs)
        )
    finally:
        compat.remove_function(part.definition.signature.name)


def _flat(root):
    from tfdbg_cli.capture.functions.definition.flat import FlatFunction

    return FlatFunction(root)


def _part_of(flat, *what, **how):
    from tfdbg_cli.capture.functions.definition.flat_part import part_of

    return part_of(flat, *what, **how)


def _name() -> str:
    return f"flat_test_{next(_NUMBERS)}"


def _given(concrete, flat, *arguments):
    return dict(zip(flat.arguments, [*arguments, *concrete.captured_inputs], strict=True))


def _nested():
    import tensorflow as tf

    weight = tf.Variable([[2.0, 1.0], [0.0, 3.0]], name="weight")
    count = tf.Variable(0, name="count")

    @tf.function
    def inner(x):
        count.assign_add(1)
        return tf.matmul(x, weight), x + 1.0

    @tf.function
    def step(x):
        with tf.name_scope("model"):
            product, shifted = inner(x)
        weight.assign_sub(0.1 * tf.transpose(product) @ shifted)
        again, _ = inner(shifted)
        for _ in tf.range(2):
            again = tf.sqrt(again) if tf.reduce_sum(again) > 0 else -again
        return again, count.read_value()

    return step, weight, count


def test_the_whole_does_what_the_function_does() -> None:
    import tensorflow as tf

    step, weight, count = _nested()
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    concrete, root = _root(step, x)
    start = weight.read_value()
    expected = [value.numpy() for value in concrete(x)]
    after, counted = weight.numpy(), count.numpy()
    weight.assign(start)
    count.assign(0)
    flat = _flat(root)
    part = _part_of(flat, _name(), flat.returns, with_effects=True)
    found = _run(part, _given(concrete, flat, x))
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b.numpy())
    np.testing.assert_array_equal(after, weight.numpy())
    assert counted == count.numpy() == 2


def test_its_nodes_are_those_of_a_run() -> None:
    import tensorflow as tf
    from support.instrumented_calls import instrument

    from tfdbg_cli.capture.functions.graph.function_graph import function_graph

    step, _, _ = _nested()
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    concrete, root = _root(step, x)
    flat = _flat(root)
    graph = function_graph(concrete)
    for node in flat.nodes.values():
        if node.scope is None:
            continue
        shown = graph.find(node.name)
        assert shown is not None, node.name
        if not node.op_type.endswith(("If", "While")):
            assert node.inputs == shown.inputs, node.name
    kept = instrument(concrete).perform([x, *concrete.captured_inputs]).captured
    names = {kept[row].node for row in range(len(kept))}
    assert {name for name in names if "while/" not in name} <= set(flat.nodes) | {a.node for a in flat.arguments}


def test_without_effects_nothing_is_written() -> None:
    import tensorflow as tf

    step, weight, count = _nested()
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    concrete, root = _root(step, x)
    before = weight.numpy()
    flat = _flat(root)
    product = next(TensorName(node.name, 0) for node in flat.nodes.values() if node.op_type == "MatMul")
    part = _part_of(flat, _name(), [product], with_effects=False)
    (found,) = _run(part, _given(concrete, flat, x))
    np.testing.assert_array_equal(x.numpy() @ before, found.numpy())
    np.testing.assert_array_equal(before, weight.numpy())
    assert count.numpy() == 0


def test_what_waits_for_an_argument_waits_for_what_is_given_for_it() -> None:
    """An argument of a call that is inlined has no node of its own, and what it was given for can be a call, too."""
    import tensorflow as tf

    count = tf.Variable(0.0)

    @tf.function
    def counted(x):
        count.assign_add(1.0)
        return tf.exp(x)

    @tf.function
    def inner(x, y):
        with tf.control_dependencies([x, y]):
            seen = count.read_value() + tf.constant(2.0)
        return tf.math.log(y) * seen

    @tf.function
    def outer(x):
        return inner(x, counted(x)) + inner(counted(x), x)

    x = tf.constant(2.0)
    concrete, root = _root(outer, x)
    flat = _flat(root)
    known = {*flat.nodes, *(argument.node for argument in flat.arguments)}
    assert all(set(node.needs) <= known for node in flat.nodes.values())
    count.assign(0.0)
    part = _part_of(flat, _name(), flat.returns, with_effects=True)
    (found,) = _run(part, _given(concrete, flat, x))
    count.assign(0.0)
    np.testing.assert_array_equal(outer(x).numpy(), found.numpy())
    assert count.numpy() == 2


def test_a_fed_tensor_cuts_off_what_only_it_needs() -> None:
    import tensorflow as tf

    step, _, _ = _nested()
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    _, root = _root(step, x)
    flat = _flat(root)
    product = next(TensorName(node.name, 0) for node in flat.nodes.values() if node.op_type == "MatMul")
    reader = next(
        TensorName(node.name, 0) for node in flat.nodes.values() if product in node.inputs and node.op_type != "While"
    )
    part = _part_of(flat, _name(), [reader], fed=[product], with_effects=False)
    assert part.inputs == (product,)
    (found,) = _run(part, {product: tf.constant([[1.0, 2.0], [3.0, 4.0]])})
    np.testing.assert_array_equal(found.numpy().shape, (2, 2))
    assert product.node in {node.name for node in flat.ancestors([reader])}
    assert product.node not in {node.name for node in flat.ancestors([reader], fed=[product])}


def test_a_keras_step_with_dropout_and_adam() -> None:
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.Input((6,)), keras.layers.Dense(5, "relu"), keras.layers.Dropout(0.5), keras.layers.Dense(2)]
    )
    optimizer = keras.optimizers.Adam(0.01)
    optimizer.build(model.trainable_variables)
    x, y = tf.random.normal([8, 6]), tf.random.normal([8, 2])
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(4).repeat()

    @tf.function
    def train(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(batch[0], training=True) - batch[1]))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    @tf.function
    def step(iterator):
        return train(next(iterator))

    iterator = iter(data)
    concrete, root = _root(step, iterator)
    flat = _flat(root)
    assert not any(node.op_type.endswith("PartitionedCall") for node in flat.nodes.values())
    variables = [*(v.value for v in model.variables), *(v.value for v in optimizer.variables)]
    before = [variable.read_value() for variable in variables]
    loss = step(iterator)
    expected = [variable.numpy() for variable in variables]
    for variable, value in zip(variables, before, strict=True):
        variable.assign(value)
    part = _part_of(flat, _name(), flat.returns, with_effects=True)
    handles = tf.nest.flatten(iter(data), expand_composites=True)
    found = _run(part, _given(concrete, flat, *handles))
    np.testing.assert_array_equal(loss, found[0])
    for variable, value in zip(variables, expected, strict=True):
        np.testing.assert_array_equal(variable.numpy(), value)


def test_the_functions_that_a_part_calls() -> None:
    import tensorflow as tf

    from tfdbg_cli.capture.functions.definition.called_functions import with_called

    step, _, _ = _nested()
    _, root = _root(step, tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    flat = _flat(root)
    part = _part_of(flat, _name(), flat.returns, with_effects=True)
    names = [definition.signature.name for definition in with_called([part.definition])]
    assert names[0] == part.definition.signature.name
    assert any("while_body" in name for name in names)
    assert any("cond_true" in name for name in names), "branches inside the loop"
