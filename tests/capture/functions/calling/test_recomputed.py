"""Values that TensorFlow may merge with their readers: computed when looked at, so that the call stays the same."""

from __future__ import annotations

import gc
import sys
import threading
import weakref

import numpy as np
import pytest
import tensorflow as tf
from support.instrumented_calls import made, values

import tfdbg_cli.capture.functions.calling.recomputed as recomputed_values
from tfdbg_cli.capture.functions.calling.instrumented import Instrumented
from tfdbg_cli.capture.functions.calling.recomputed import Recomputed
from tfdbg_cli.capture.functions.definition.body import ReferenceTarget
from tfdbg_cli.capture.functions.definition.mergeable import BINARY, ELEMENTWISE
from tfdbg_cli.capture.functions.graph.scopes import scope_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.graph_collection import GRAPH_COLLECTION
from tfdbg_cli.model.values import NoValue

pytestmark = pytest.mark.tf

RNG = np.random.RandomState(0)


def rows(*shape, dtype=np.float32):
    return tf.constant(RNG.randn(*shape).astype(dtype))


def recomputed(outcome):
    """The op types of the values that were not given back."""
    return [shown.op_type for shown, tensor in outcome.captured.pairs() if isinstance(tensor, Recomputed)]


def test_the_parts_of_a_sum_are_as_the_program_says_and_the_sum_as_undebugged() -> None:
    @tf.function
    def f(a, b, c, d):
        return tf.reduce_sum(a + b + c + d + a)

    given = [rows(1000) * 10.0**power for power in range(4)]
    _, outcome = made(f, *given)
    assert outcome.outputs[0].numpy().tobytes() == f(*given).numpy().tobytes()
    assert recomputed(outcome) == ["AddV2"] * 3
    a, b, c, _ = given
    assert values(outcome, "add")[0].tobytes() == (a + b).numpy().tobytes()
    assert values(outcome, "add_1")[0].tobytes() == (a + b + c).numpy().tobytes()


def test_no_other_thread_collects_graphs_while_one_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that writes a recording computed values while a function was compiled: their graphs were its."""

    @tf.function
    def f(a, b):
        return tf.reduce_sum(a + b + a)

    _, outcome = made(f, rows(10), rows(10))
    run_op = compat.run_op
    alone = []

    def op(*given):
        other = threading.Thread(target=lambda: alone.append(not GRAPH_COLLECTION._lock.acquire(blocking=False)))
        other.start()
        other.join()
        return run_op(*given)

    monkeypatch.setattr(compat, "run_op", op)
    values(outcome, "add")
    assert alone == [True]


def test_values_that_were_looked_at_go_with_their_run() -> None:
    """Kept values and those who keep them made a circle: a whole run with its batch waited for the collector."""

    @tf.function
    def f(a, b):
        return tf.reduce_sum(a + b + a)

    _, outcome = made(f, rows(1000), rows(1000))
    given = weakref.ref(next(value for _, value in outcome.captured.pairs() if isinstance(value, Recomputed)))
    gc.disable()
    try:
        assert values(outcome, "add")
        del outcome
        assert given() is None
    finally:
        gc.enable()


def test_values_that_pass_on_another_are_that_other() -> None:
    @tf.function
    def f(x):
        y = tf.sin(x)
        return tf.stop_gradient(tf.identity(y)) * 2 + y, tf.identity_n([x, y])[1] + 1

    _, outcome = made(f, rows(3))
    for node, slot in (("Identity", 0), ("StopGradient", 0), ("IdentityN", 1)):
        assert [v.tobytes() for v in values(outcome, node, slot)] == [values(outcome, "Sin")[0].tobytes()]
    assert "Identity" not in recomputed(outcome)


def test_a_layer_whose_ops_are_fused() -> None:
    @tf.function
    def f(x, weights, bias):
        return tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weights), bias))

    given = rows(33, 65), rows(65, 17), rows(17)
    _, outcome = made(f, *given)
    assert outcome.outputs[0].numpy().tobytes() == f(*given).numpy().tobytes()
    assert recomputed(outcome) == ["MatMul", "BiasAdd"]
    index = outcome.captured.named("MatMul")[0]
    assert (outcome.captured[index].shape, outcome.captured[index].nbytes) == ((33, 17), 33 * 17 * 4)
    np.testing.assert_allclose(values(outcome, "MatMul")[0], given[0] @ given[1])


def test_constants_that_are_not_given_back_are_made_where_somebody_looks() -> None:
    """Found as a fused gelu of Keras whose run could not be recorded."""

    @tf.function
    def f(x):
        return tf.nn.gelu(x, approximate=False)

    given = rows(3, 4)
    concrete = f.get_concrete_function(given)
    root = scope_of(concrete)
    constants = [name for name, node in root.body.nodes.items() if node.op == "Const"]
    root.unread = frozenset(ReferenceTarget(name, 0) for name in constants)
    outcome = Instrumented(root, compat.atomic_of(concrete)).perform([given])
    assert recomputed(outcome).count("Const") == len(constants) > 0
    for shown, tensor in outcome.captured.pairs():
        if shown.op_type == "Const":
            assert tensor.device.endswith("device:CPU:0")
            assert tensor.shape == ()
            written = tf.make_ndarray(root.body.nodes[shown.name.node].attr["value"].tensor)
            assert float(tensor.tensor()) == float(written)


ANY = {
    "Mean": lambda x: tf.reduce_mean(x, 1),
    "Sum": lambda x: tf.reduce_sum(x, [0], keepdims=True),
    "Cast": lambda x: tf.cast(x, tf.float64),
    "Split": lambda x: tf.split(x, 3)[0],
    "SplitV": lambda x: tf.split(x, [1, 2])[0],
    "Unpack": lambda x: tf.unstack(x, axis=1)[0],
    "TopKV2": lambda x: tf.math.top_k(x, 2).values,
    "Slice": lambda x: tf.slice(x, [0, 1], [2, 3]),
    "Tile": lambda x: tf.tile(x, [2, 1]),
    "GatherV2": lambda x: tf.gather(x, [1, 1, 0], axis=1),
    "ConcatV2": lambda x: tf.concat([x, x, x], 1),
    "Pack": lambda x: tf.stack([x, x]),
    "Transpose": tf.transpose,
    "Where": tf.where,
    "Fill": lambda x: tf.fill(tf.shape(x)[1:], x[0, 0]),
    "EnsureShape": lambda x: tf.ensure_shape(x, [None, 4]),
    "Bucketize": lambda x: tf.raw_ops.Bucketize(input=x, boundaries=[-0.5, 0.0, 0.5]),
    "Einsum": lambda x: tf.einsum("ij,kj->ik", x, x),
    "ExtractImagePatches": lambda x: tf.image.extract_patches(
        x[None, ..., None], [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"
    ),
    "SelectV2": lambda x: tf.where(x > 0.0, x, 1.0),
    "OneHot": lambda x: tf.one_hot(tf.argmax(x), 5),
    "DynamicPartition": lambda x: tf.dynamic_partition(x, [0, 1, 0], 2)[0],
    "ShapeN": lambda x: tf.shape_n([x, x])[0],
}


@pytest.mark.parametrize("op_type", ANY)
def test_any_op_can_be_left_out(op_type: str) -> None:
    """Whatever changes what the optimizer makes of a function is not given back, so any op may be: here one is."""

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def f(x):
        return tf.identity(ANY[op_type](x))

    given = rows(3, 4)
    concrete = f.get_concrete_function()
    root = scope_of(concrete)
    (name,) = (name for name, node in root.body.nodes.items() if node.op == op_type)
    root.unread = frozenset({ReferenceTarget(name, 0)})
    outcome = Instrumented(root, compat.atomic_of(concrete)).perform([given])
    assert op_type in recomputed(outcome)
    index = outcome.captured.named(name)[0]
    expected = f(given).numpy()
    assert outcome.captured[index].shape == expected.shape
    (value,) = values(outcome, name)
    assert (value.dtype, value.tobytes()) == (expected.dtype, expected.tobytes())


def test_shapes_are_those_of_the_values() -> None:
    @tf.function
    def f(image, kernel, signal, filters, bias, scale):
        conv = tf.nn.bias_add(tf.nn.conv2d(image, kernel, 2, "SAME"), bias)
        line = tf.nn.bias_add(tf.nn.conv1d(signal, filters, 1, "VALID"), bias)
        depth = tf.nn.depthwise_conv2d(image, tf.ones([2, 2, 3, 1]), [1, 1, 1, 1], "VALID") + scale[0]
        batch = tf.matmul(signal, signal, transpose_b=True) * 0.5 + 1.0
        wide = (scale[:, None] - scale[None, :]) * 2.0
        flat = tf.reshape(signal, [6, 8])
        products = [
            tf.nn.bias_add(tf.matmul(flat, flat, transpose_a=True), tf.ones([8])) * 2.0,
            tf.nn.bias_add(tf.matmul(flat, flat, transpose_b=True), tf.ones([6])) * 2.0,
            tf.nn.bias_add(tf.matmul(flat, tf.ones([8, 5])), tf.ones([5])) * 2.0,
        ]
        views = (
            tf.reshape(image, [2, -1, 3]), tf.reshape(scale + 1.0, tf.shape(scale) * [1]),
            tf.reshape(scale[:0], [-1, 4]), tf.reshape(scale[0], []), tf.expand_dims(scale, -1),
            tf.expand_dims(image, 1), tf.squeeze(image[:1]), tf.squeeze(image[:1, :1], [0, -3]),
            tf.squeeze(scale[:1]),
        )  # fmt: skip
        return (
            conv,
            line,
            depth,
            batch,
            wide,
            products,
            tf.add_n([scale, scale * 2]) + 1,
            [view * 1 for view in views],
        )

    _, outcome = made(f, rows(2, 7, 9, 3), rows(3, 3, 3, 4), rows(2, 8, 3), rows(3, 3, 4), rows(4), rows(5))
    found = recomputed(outcome)
    assert {
        "Conv2D",
        "Squeeze",
        "Reshape",
        "ExpandDims",
        "DepthwiseConv2dNative",
        "BatchMatMulV2",
        "MatMul",
        "Sub",
        "AddN",
        "Mul",
    } <= {*found}
    captured = outcome.captured
    for index in range(len(captured)):
        value = captured.value(index)
        assert not isinstance(value, NoValue), captured[index]
        assert captured[index].shape == value.shape, captured[index]
        assert captured[index].nbytes == value.nbytes


@pytest.mark.parametrize("op_type", sorted(ELEMENTWISE))
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_each_kind_gives_what_its_kernel_gives(op_type, dtype) -> None:
    raw = getattr(tf.raw_ops, op_type)
    x = tf.cast(tf.abs(rows(4, 3)) + 0.5, dtype)
    arguments = {
        "AddN": lambda: {"inputs": [x, x, x]},
        "BiasAdd": lambda: {"value": x, "bias": x[0]},
        "Relu": lambda: {"features": x}, "Relu6": lambda: {"features": x}, "Elu": lambda: {"features": x},
        "Selu": lambda: {"features": x}, "LeakyRelu": lambda: {"features": -x, "alpha": 0.3},
        "Softplus": lambda: {"features": x}, "Softsign": lambda: {"features": x},
    }.get(op_type, lambda: {"x": x})()  # fmt: skip
    if op_type in BINARY:
        arguments["y"] = x[:1]
    try:
        plain = raw(**arguments)
    except (tf.errors.InvalidArgumentError, tf.errors.NotFoundError):
        pytest.skip("has no kernel for this element type")

    @tf.function
    def f():
        made_here = {key: [v + 0 for v in a] if isinstance(a, list) else a for key, a in arguments.items()}
        return tf.raw_ops.Neg(x=raw(**made_here, name="this"))

    _, outcome = made(f)
    assert op_type in recomputed(outcome)
    (value,) = values(outcome, "this")
    assert value.tobytes() == plain.numpy().tobytes()


def test_a_sum_across_a_change_of_shape() -> None:
    """As in GPflow: Grappler leaves the reshaping out and makes one sum of both."""

    @tf.function
    def f(x, y, z):
        return (tf.reshape(x + y, [20, 50]) + z) * 0.5

    given = [rows(20, 50) * 10.0**power for power in range(3)]
    _, outcome = made(f, *given)
    assert outcome.outputs[0].numpy().tobytes() == f(*given).numpy().tobytes()
    assert recomputed(outcome) == ["AddV2", "Reshape", "AddV2"]


def test_turns_of_loops_and_branches() -> None:
    @tf.function
    def f(x, offset):
        total = tf.zeros_like(x)
        for i in tf.range(3):
            if i > 0:  # noqa: SIM108  # a branch of the graph
                total = total + x + offset + tf.cast(i, tf.float32)
            else:
                total = total * 2.0 + offset - x
        return total

    given = rows(5), rows(5)
    _, outcome = made(f, *given)
    assert outcome.outputs[0].numpy().tobytes() == f(*given).numpy().tobytes()
    assert "AddV2" in recomputed(outcome)
    x, offset = (tensor.numpy() for tensor in given)
    first = 0 * 2.0 + offset - x
    partial = [v for name in ("while/body/cond/true/add",) for v in values(outcome, name)]
    np.testing.assert_array_equal(partial[0], first + x)
    assert len(partial) == 2


def test_the_condition_of_a_loop_gives_all_its_values() -> None:
    @tf.function
    def f(x):
        return tf.while_loop(lambda v: tf.reduce_sum(v * 2.0 + 1.0) < 50.0, lambda v: [v * 2.0 + 1.0], [x])[0]

    _, outcome = made(f, tf.ones(3))
    assert len(values(outcome, "while/cond/mul")) == len(values(outcome, "while/body/mul")) + 1


def test_what_xla_compiles_gives_all_its_values() -> None:
    @tf.function(jit_compile=True)
    def f(a, b, c):
        return a + b + c

    _, outcome = made(f, rows(3), rows(3), rows(3))
    assert recomputed(outcome) == []


def test_long_chains_need_no_deep_stack() -> None:
    long = sys.getrecursionlimit() + 500

    @tf.function
    def f(x):
        for _ in range(long):
            x = x + 1.0
        return x

    _, outcome = made(f, tf.zeros([]))
    assert len(recomputed(outcome)) == long - 1
    assert float(values(outcome, f"add_{long - 2}")[0]) == long - 1
    assert outcome.captured[outcome.captured.named(f"add_{long - 3}")[0]].shape == ()


def test_values_can_be_looked_at_under_a_tape_and_in_a_graph_and_leave_no_trace() -> None:
    @tf.function
    def f(a, b):
        return (a + b) * 2.0 - a

    a, b = rows(4), rows(4)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        _, outcome = made(f, a, b)
        with tf.Graph().as_default() as graph:
            (value,) = values(outcome, "add")
        doubled = a * 2.0
    np.testing.assert_array_equal(value, a + b)
    assert graph.get_operations() == []
    assert tape.gradient(doubled, b) is None


def test_nothing_outlives_the_run() -> None:
    @tf.function
    def f(a, b, c):
        return a + b + c

    _, outcome = made(f, rows(4), rows(4), rows(4))
    index = outcome.captured.named("add")[0]
    kept = weakref.ref(outcome.captured.pairs()[index][1].tensor())
    assert kept() is not None
    del outcome
    gc.collect()
    assert kept() is None


def test_a_long_chain_gone_through_from_its_end_is_not_computed_for_each_of_its_values(monkeypatch) -> None:
    """A blind test: the origin of a run of 2500 ops took minutes."""

    @tf.function
    def f(x):
        for _ in range(100):
            x = tf.nn.relu(x + 1.0)
        return x

    _, outcome = made(f, rows(3))
    chain = [tensor for _, tensor in outcome.captured.pairs() if isinstance(tensor, Recomputed)]
    assert len(chain) > 90
    count = 0

    def counted(*args):
        nonlocal count
        count += 1
        return run_op(*args)

    run_op = compat.run_op
    monkeypatch.setattr(compat, "run_op", counted)
    found = [float(value.tensor()[0]) for value in reversed(chain)]
    assert found == sorted(found, reverse=True)
    assert count <= len(chain)


def test_of_values_that_were_computed_those_of_one_run_are_kept(monkeypatch) -> None:
    monkeypatch.setattr(recomputed_values, "_MOST_BYTES", 20_000)

    @tf.function
    def f(x):
        for _ in range(30):
            x = tf.nn.relu(x + 1.0)
        return x

    runs = [
        [tensor for _, tensor in made(f, rows(1000))[1].captured.pairs() if isinstance(tensor, Recomputed)]
        for _ in range(2)
    ]
    kept = [[weakref.ref(value.tensor()) for value in chain] for chain in runs]
    gc.collect()
    assert [sum(one() is not None for one in refs) for refs in kept] == [4, 5]
