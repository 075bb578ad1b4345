"""Every kind of function that TensorFlow's own libraries define inside of others: programs that call them.

Each takes a float32 vector of four positive numbers and gives a scalar. A NaN in the vector reaches it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import tracing_compilation
from tensorflow.python.framework import function
from tensorflow.python.ops import functional_ops, gen_functional_ops

v1 = tf.compat.v1


def _defun(x: Any) -> Any:
    @function.Defun(tf.float32)
    def scaled(a: Any) -> Any:
        return tf.math.log(a * 2.0)

    return tf.reduce_sum(scaled(x))


def _defun_with_a_gradient_of_its_own(x: Any) -> Any:
    @function.Defun(tf.float32, tf.float32)
    def slope(a: Any, upstream: Any) -> Any:
        return upstream * tf.sign(a) * 3.0

    @function.Defun(tf.float32, grad_func=slope)
    def tripled(a: Any) -> Any:
        return a * 3.0

    return tf.reduce_sum(tripled(x))


def _defun_without_inlining(x: Any) -> Any:
    @function.Defun(tf.float32, noinline=True)
    def doubled(a: Any) -> Any:
        return a + a

    @function.Defun(tf.float32)
    def outer(a: Any) -> Any:
        return doubled(doubled(a))

    return tf.reduce_sum(outer(x))


def _with_attributes(x: Any) -> Any:
    """What `defun_with_attributes` was, as recurrent layers make theirs."""
    options = tracing_compilation.TracingOptions(
        lambda a: tf.math.log(a) * 2.0, "implemented", attributes={"api_implements": "a"}, autograph=False
    )
    return tf.reduce_sum(tracing_compilation.call_function((x,), tracing_options=options))


def _partitioned_call(x: Any) -> Any:
    @function.Defun(tf.float32)
    def body(a: Any) -> Any:
        return tf.exp(-a)

    body.add_to_graph(v1.get_default_graph())
    (found,) = tf.raw_ops.PartitionedCall(args=[x], Tout=[tf.float32], f=body)
    return tf.reduce_sum(found)


def _remote_call(x: Any) -> Any:
    @function.Defun(tf.float32)
    def body(a: Any) -> Any:
        return a * a

    (found,) = functional_ops.remote_call(target=tf.constant("/cpu:0"), args=[x], f=body, Tout=[tf.float32])
    return tf.reduce_sum(found)


def _functional_while(x: Any) -> Any:
    @function.Defun(tf.int32, tf.float32)
    def goes_on(i: Any, a: Any) -> Any:
        return i < 3

    @function.Defun(tf.int32, tf.float32)
    def turn(i: Any, a: Any) -> Any:
        return i + 1, a * 1.5

    return tf.reduce_sum(functional_ops.While([0, x], goes_on, turn)[1])


def _functional_for(x: Any) -> Any:
    @function.Defun(tf.int32, tf.float32)
    def turn(i: Any, a: Any) -> Any:
        return a + tf.cast(i, tf.float32)

    return tf.reduce_sum(functional_ops.For(0, 3, 1, [x], turn)[0])


def _functional_if(x: Any) -> Any:
    @function.Defun(tf.float32)
    def yes(a: Any) -> Any:
        return a * 2.0

    @function.Defun(tf.float32)
    def no(a: Any) -> Any:
        return a - 2.0

    return tf.reduce_sum(functional_ops.If(tf.size(x) > 2, [x], yes, no)[0])


def _symbolic_gradient(x: Any) -> Any:
    @function.Defun(tf.float32)
    def squares(a: Any) -> Any:
        return tf.reduce_sum(a * a)

    squares.add_to_graph(v1.get_default_graph())
    (found,) = gen_functional_ops.symbolic_gradient(input=[x, tf.ones([])], Tout=[tf.float32], f=squares)
    return tf.reduce_sum(found)


def _if(x: Any) -> Any:
    return tf.reduce_sum(tf.cond(tf.size(x) > 2, lambda: tf.math.log(x), lambda: x))


def _case(x: Any) -> Any:
    return tf.reduce_sum(tf.switch_case(tf.size(x) - 3, [lambda: x, lambda: tf.sqrt(x), lambda: -x]))


def _while(x: Any) -> Any:
    return tf.reduce_sum(
        tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a) + x), (0, x), maximum_iterations=5)[1]
    )


def _if_in_while(x: Any) -> Any:
    def turn(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(i < 1, lambda: a * x, lambda: a + x)

    return tf.reduce_sum(tf.while_loop(lambda i, a: i < 3, turn, [0, x])[1])


def _while_in_if(x: Any) -> Any:
    def loop() -> Any:
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 1.25), [0, x])[1]

    return tf.reduce_sum(tf.cond(tf.size(x) > 2, loop, lambda: x))


def _map_fn(x: Any) -> Any:
    return tf.reduce_sum(tf.map_fn(lambda a: a * a, x))


def _scan(x: Any) -> Any:
    return tf.reduce_sum(tf.scan(lambda a, b: a * 0.5 + b, x))


def _fold(x: Any) -> Any:
    return tf.foldl(lambda a, b: a + b, x)


def _vectorized_map(x: Any) -> Any:
    return tf.reduce_sum(tf.vectorized_map(lambda a: a * tf.reduce_sum(x), x))


def _custom_gradient(x: Any) -> Any:
    @tf.custom_gradient
    def clipped(a: Any) -> Any:
        return tf.exp(a), lambda upstream: tf.clip_by_value(upstream, -1.0, 1.0)

    return tf.reduce_sum(clipped(x))


def _recomputed(x: Any) -> Any:
    return tf.reduce_sum(tf.recompute_grad(lambda a: tf.math.log(a) * a)(x))


def _nested(x: Any) -> Any:
    inner = tf.function(lambda a: tf.math.log(a), autograph=False)
    return tf.reduce_sum(tf.function(lambda a: inner(a) + inner(a * 2.0), autograph=False)(x))


def _python(x: Any) -> Any:
    return tf.reduce_sum(tf.py_function(lambda a: a * 2.0, [x], tf.float32))


def _numpy(x: Any) -> Any:
    found = tf.numpy_function(lambda a: a * a, [x], tf.float32)
    found.set_shape([4])
    return tf.reduce_sum(found + 0.0 * x)


def _dense_ctc_loss(x: Any) -> Any:
    labels = tf.constant([[1, 2, 0], [3, 4, 5]])
    logits = tf.reshape(tf.tile(x, [21]), [2, 7, 6])
    loss = tf.nn.ctc_loss(
        labels, logits, tf.constant([2, 3]), tf.constant([7, 7]), logits_time_major=False, blank_index=0
    )
    return tf.reduce_sum(loss)


def _dataset_reduced(x: Any) -> Any:
    data = tf.data.Dataset.from_tensor_slices(x).map(lambda a: a * 2.0).filter(lambda a: ~(a < 0.0))
    return data.batch(2).reduce(0.0, lambda before, batch: before + tf.reduce_sum(batch))


def _dataset_walked(x: Any) -> Any:
    data = tf.data.Dataset.range(3).interleave(lambda i: tf.data.Dataset.from_tensors(i).repeat(2))
    total = tf.constant(0.0)

    def add(before: Any, i: Any) -> Any:
        return before + tf.cast(i, tf.float32)

    return tf.reduce_sum(x) * data.reduce(total, add)


def _one_shot_iterator(x: Any) -> Any:
    data = tf.data.Dataset.range(3).map(lambda i: tf.cast(i, tf.float32)).repeat()
    return tf.reduce_sum(x) + v1.data.make_one_shot_iterator(data.take(1).repeat()).get_next()


def _map_defun(x: Any) -> Any:
    from tensorflow.python.data.experimental.ops.map_defun import map_defun

    mapped = tf.function(lambda a: a * a, input_signature=[tf.TensorSpec([], tf.float32)], autograph=False)
    return tf.reduce_sum(map_defun(mapped, [x], [tf.float32], [tf.TensorShape([])])[0])


def _batch_function(x: Any) -> Any:
    @tf.nondifferentiable_batch_function(1, 4, 1, max_enqueued_batches=2, autograph=False)
    def batched(a: Any) -> Any:
        return a * 2.0

    return tf.reduce_sum(batched(x[None]))


# Those of which TensorFlow makes a gradient that it can run, and the others.
WITH_GRADIENT: dict[str, Callable[[Any], Any]] = {
    "Defun": _defun,
    "Defun with a gradient of its own": _defun_with_a_gradient_of_its_own,
    "defun with attributes": _with_attributes,
    "PartitionedCall": _partitioned_call,
    "If": _if,
    "Case": _case,
    "While": _while,
    "If in While": _if_in_while,
    "While in If": _while_in_if,
    "map_fn": _map_fn,
    "scan": _scan,
    "foldl": _fold,
    "vectorized_map": _vectorized_map,
    "custom_gradient": _custom_gradient,
    "recompute_grad": _recomputed,
    "tf.function in tf.function": _nested,
    "py_function": _python,
    "ctc_loss": _dense_ctc_loss,
}
WITHOUT_GRADIENT: dict[str, Callable[[Any], Any]] = {
    "Defun in Defun": _defun_without_inlining,
    "RemoteCall": _remote_call,
    "functional While": _functional_while,
    "functional For": _functional_for,
    "functional If": _functional_if,
    "SymbolicGradient": _symbolic_gradient,
    "numpy_function": _numpy,
    "Dataset.map, filter, reduce": _dataset_reduced,
    "Dataset.interleave": _dataset_walked,
    "one shot iterator": _one_shot_iterator,
    "map_defun": _map_defun,
    "batch_function": _batch_function,
}
EVERY: dict[str, Callable[[Any], Any]] = {**WITH_GRADIENT, **WITHOUT_GRADIENT}
