"""A watch finds exactly what looking at every tensor finds: random graphs, with a bad element planted anywhere."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest
from support import one_dnn

from tfdbg_cli.analysis.watch.filters import has_inf, has_inf_or_nan, has_nan
from tfdbg_cli.capture.controller import WatchRequest
from tfdbg_cli.capture.questions.known import question_of
from tfdbg_cli.capture.sessions.extended.call_checks import call_checks, why_not_inside
from tfdbg_cli.capture.sessions.invocation import RunCall
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.statistics import nonfinite_mask

pytestmark = pytest.mark.tf

FILTERS = {"has_inf_or_nan": has_inf_or_nan, "has_nan": has_nan, "has_inf": has_inf}
BAD = (np.nan, np.inf, -np.inf)
SQUARE, IMAGE, EMPTY = [4, 4], [1, 4, 4, 2], [0, 4]


def unary(tf) -> list:
    """Ops of one tensor of any shape and any float type."""
    names = """
        identity negative abs square sqrt rsqrt log log1p exp expm1 sin cos tan tanh sigmoid floor
        ceil rint sign reciprocal sinh cosh asinh atan erf erfc lgamma is_nan is_finite zeros_like
        ones_like stop_gradient softplus
    """.split()  # noqa: SIM905
    ops = [getattr(tf.math, name, None) or getattr(tf, name) for name in names]
    return [
        *ops,
        tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.selu, tf.nn.softsign, tf.nn.leaky_relu, tf.nn.l2_loss,
        lambda x: tf.cast(x, tf.int32), lambda x: tf.cast(tf.cast(x, tf.float16), x.dtype),
        lambda x: tf.cast(tf.cast(x, tf.float64), x.dtype), lambda x: tf.cast(tf.cast(x, tf.bfloat16), x.dtype),
        lambda x: tf.clip_by_value(x, tf.cast(-1, x.dtype), tf.cast(1, x.dtype)),
        lambda x: tf.reshape(x, [-1]), lambda x: tf.expand_dims(x, 0), lambda x: tf.expand_dims(x, -1),
        lambda x: tf.transpose(x), lambda x: tf.reverse(x, [0]), lambda x: tf.roll(x, 1, 0),
        lambda x: x * tf.zeros_like(x), lambda x: x * tf.cast(0, x.dtype), lambda x: x - x, lambda x: x / x,
        lambda x: x * tf.cast(2, x.dtype), lambda x: x + tf.cast(1, x.dtype), lambda x: x / tf.cast(3, x.dtype),
        lambda x: tf.cast(1, x.dtype) / x, lambda x: x * tf.fill(tf.shape(x), tf.cast(0, x.dtype)),
        lambda x: tf.math.log(x) - tf.math.log(x), lambda x: tf.squared_difference(x, tf.identity(x)),
        lambda x: x - tf.reshape(x, tf.shape(x)), lambda x: x * tf.zeros([0] + [1] * (len(x.shape) - 1), x.dtype)
        if x.shape.rank and x.shape[0] == 1 else -x,
        lambda x: tf.pow(x, tf.cast(0, x.dtype)), lambda x: tf.pow(x, tf.cast(2, x.dtype)),
        lambda x: tf.where(tf.is_finite(x), x, tf.zeros_like(x)), lambda x: tf.maximum(x, tf.cast(0, x.dtype)),
        lambda x: tf.concat([x, x], -1), lambda x: tf.stack([x, -x]), lambda x: tf.unstack(x)[0] if x.shape[0] else x,
        lambda x: tf.split(x, 2, axis=-1)[0] if x.shape[-1] and x.shape[-1] % 2 == 0 else x,
        lambda x: tf.slice(x, [0] * len(x.shape), [1] * len(x.shape)) if 0 not in x.shape.as_list() else x,
        lambda x: x[:0], lambda x: x[..., ::2], lambda x: tf.gather(x, [0]) if x.shape[0] else x,
        lambda x: tf.pad(x, [[1, 0]] + [[0, 1]] * (len(x.shape) - 1)),
        lambda x: tf.tile(x, [2] + [1] * (len(x.shape) - 1)),
        lambda x: tf.tile(x, [0] + [1] * (len(x.shape) - 1)), lambda x: tf.broadcast_to(x, [2, *x.shape]),
        lambda x: tf.reduce_sum(x), lambda x: tf.reduce_sum(x, 0), lambda x: tf.reduce_mean(x, -1, keepdims=True),
        lambda x: tf.reduce_max(x), lambda x: tf.reduce_min(x, 0), lambda x: tf.reduce_prod(x, -1),
        lambda x: tf.reduce_sum(x, []), lambda x: tf.argmax(x, -1) if x.shape[-1] else x, lambda x: tf.cumsum(x, -1),
        lambda x: tf.cumsum(x, 0, exclusive=True), lambda x: tf.cumprod(x, -1), lambda x: tf.math.reduce_logsumexp(x),
        lambda x: tf.nn.softmax(x) if x.shape[-1] else x, lambda x: tf.nn.log_softmax(x) if x.shape[-1] else x,
        lambda x: tf.add_n([x, x, -x]), lambda x: tf.sort(x) if x.shape[-1] else x,
        lambda x: tf.complex(tf.cast(x, tf.float32), tf.cast(x, tf.float32)),
        lambda x: tf.abs(tf.complex(tf.cast(x, tf.float32), tf.cast(x, tf.float32))),
        lambda x: tf.gradients(tf.reduce_sum(tf.sqrt(x)), x)[0], lambda x: tf.gradients(tf.nn.relu(x), x)[0],
        lambda x: tf.gradients(tf.tanh(x) * x, x)[0], lambda x: tf.gradients(x * x / (x + tf.cast(1, x.dtype)), x)[0],
        lambda x: tf.ensure_shape(x, x.shape), lambda x: tf.nn.moments(x, [0])[1],
        lambda x: tf.nn.l2_normalize(x, -1),
    ]  # fmt: skip


def binary(tf) -> list:
    """Ops of two tensors of one shape and type."""
    names = (
        "add subtract multiply divide maximum minimum divide_no_nan multiply_no_nan squared_difference atan2 xlogy"
    )
    return [
        *(getattr(tf.math, name) for name in names.split()),
        lambda x, y: tf.where(x > y, x, y), lambda x, y: tf.add_n([x, y]), lambda x, y: tf.concat([x, y], 0),
        lambda x, y: tf.stack([x, y], -1), lambda x, y: x * tf.reduce_sum(y), lambda x, y: x - tf.reduce_mean(y, 0),
        lambda x, y: x + y[:0] if y.shape[0] == 1 else x + y, lambda x, y: x * tf.stop_gradient(y) + x * y,
        lambda x, y: tf.greater(x, y), lambda x, y: tf.pow(tf.abs(x), y), lambda x, y: tf.identity_n([x, y])[1],
    ]  # fmt: skip


def of_squares(tf) -> list:
    """Ops of two square matrices."""
    return [
        tf.matmul, lambda x, y: tf.matmul(x, y, transpose_a=True), lambda x, y: tf.matmul(x[:0], y),
        lambda x, y: tf.matmul(x, y[:, :0]), lambda x, y: tf.matmul(x[:, :0], y[:0]),
        lambda x, y: tf.matmul(x, tf.zeros_like(y)), lambda x, y: tf.einsum("ij,jk->ik", x, y),
        lambda x, y: tf.einsum("ij,ij->", x, y), lambda x, y: tf.einsum("ii->i", x) + y[0],
        lambda x, y: tf.linalg.diag(x) * y, lambda x, y: tf.linalg.band_part(x, 0, -1),
        lambda x, y: tf.nn.bias_add(x, y[0]),
        lambda x, y: tf.tensordot(x, y, 1), lambda x, y: tf.gradients(tf.matmul(x, y), [x, y])[1],
        lambda x, y: tf.matmul(tf.stack([x, x]), tf.stack([y, y])), lambda x, y: tf.linalg.trace(x) + y,
    ]  # fmt: skip


def of_images(tf) -> list:
    """Ops of an image of two channels."""

    def conv(size, stride, padding, dilation=1):
        def apply(x):
            weights = tf.constant(np.linspace(-0.5, 0.5, size * size * 6, dtype=np.float32).reshape(size, size, 2, 3))
            return tf.nn.conv2d(x, weights * x[0, 0, 0, 0], stride, padding, dilations=dilation)

        return apply

    def sloped(apply, x):
        return tf.gradients(apply(x), x)[0]

    kinds = [(1, 1), (1, 2), (2, 1), (3, 1), (3, 2), (2, 2), (2, 3)]
    ops = [conv(*kind, padding) for kind in kinds for padding in ("SAME", "VALID")]
    ops += [partial(sloped, conv(*kind, "SAME")) for kind in kinds]
    for pool in (tf.nn.max_pool2d, tf.nn.avg_pool2d):
        ops += [
            lambda x, p=pool, k=k, s=s, how=how: p(x, k, s, how)
            for k, s in ((2, 1), (1, 2), (2, 3))
            for how in ("SAME", "VALID")
        ]
        ops += [lambda x, p=pool: tf.gradients(p(x, 2, 2, "SAME"), x)[0]]
    norm = tf.nn.fused_batch_norm
    # With oneDNN TensorFlow ends the process where an inner tensor is fed beside one of these, debugged or not:
    # MklLayoutRewritePass asks something without axes for its second one ("Check failed: d < dims()").
    norms = [
        lambda x: norm(x, tf.ones([2]), tf.zeros([2]))[0], lambda x: norm(x, tf.zeros([2]), tf.zeros([2]))[0],
        lambda x: norm(x, x[0, 0, 0], x[0, 1, 1])[1],
        lambda x: norm(x, tf.ones([2]), tf.zeros([2]), tf.zeros([2]), tf.ones([2]), is_training=False)[0],
    ]  # fmt: skip
    return [
        *ops, conv(2, 1, "SAME", 2), conv(2, 1, "VALID", 2),
        lambda x: tf.nn.depthwise_conv2d(x, tf.ones([2, 2, 2, 1]), [1, 1, 1, 1], "SAME"),
        *([] if one_dnn.ON else norms),
        lambda x: tf.space_to_depth(x, 2), lambda x: tf.image.resize_bilinear(x, [2, 2]),
        lambda x: tf.nn.lrn(x), lambda x: tf.nn.bias_add(x, x[0, 0, 0]), lambda x: tf.reduce_mean(x, [1, 2]),
    ]  # fmt: skip


class RandomGraph:
    """A graph of random ops on constants of the graph, placeholders and variables."""

    def __init__(self, tf, seed: int, length: int = 30) -> None:
        self.chance = random.Random(seed)
        numbers = np.random.default_rng(seed)
        dtype = self.chance.choice([tf.float32, tf.float32, tf.float32, tf.float64])
        places = [tf.placeholder(dtype, shape) for shape in (SQUARE, SQUARE, IMAGE, EMPTY)]
        self.feeds = {place: numbers.uniform(0.5, 1.5, place.shape.as_list()) for place in places}
        images = tf.placeholder(tf.float32, IMAGE)
        self.feeds[images] = numbers.uniform(0.5, 1.5, IMAGE)
        resource = self.chance.random() < 0.7
        self.variable = tf.get_variable(f"v{seed}", SQUARE, dtype, tf.ones_initializer(), use_resource=resource)
        pool = [*places, images, tf.identity(self.variable, name="read"), tf.zeros(SQUARE, dtype)]
        kinds = (unary(tf), binary(tf), of_squares(tf), of_images(tf))
        while length:
            made = self._next(tf, pool, *kinds)
            if made is not None:
                length -= 1
                pool += (
                    [made] if made.dtype.is_floating and made.shape.rank and made.shape.num_elements() < 3000 else []
                )
        square = [tensor for tensor in pool if tensor.shape == SQUARE and tensor.dtype == dtype]
        # What is read from a variable of the old kind changes with it: all readers come before the update.
        readers = [op for op in tf.get_default_graph().get_operations() if op is not self.variable.initializer]
        with tf.control_dependencies(readers):
            update = self.chance.choice([tf.assign, tf.assign_add, tf.assign_sub])
            self.update = update(self.variable, self.chance.choice(square)).op
        self.ends = [*(tensor for tensor in pool if not tensor.consumers()), self.update]
        self.graph = tf.get_default_graph()

    def _next(self, tf, pool, one, two, squares, images):
        x = self.chance.choice(pool)
        alike = [y for y in pool if y.shape == x.shape and y.dtype == x.dtype]
        ops = [(op, (x,)) for op in one] + [(op, (x, self.chance.choice(alike))) for op in two]
        if x.shape == SQUARE:
            ops += [(op, (x, self.chance.choice(alike))) for op in squares]
        if x.shape == IMAGE and x.dtype == tf.float32:
            ops += [(op, (x,)) for op in images] * 3
        op, operands = self.chance.choice(ops)
        try:
            return op(*operands)
        except (ValueError, TypeError, IndexError):  # a shape or a type that this op does not take
            return None

    def planted(self, tf, tensors) -> dict:
        """Feeds of which one holds a bad element, in one of `tensors`; now and then none does."""
        feeds = dict(self.feeds)
        fit = [t for t in tensors if t.dtype.is_floating and t.dtype == t.dtype.base_dtype and t.shape.num_elements()]
        target = self.chance.choice(fit)
        if self.chance.random() < 0.1:
            return feeds
        value = np.full(target.shape.as_list(), 0.75)
        value.flat[self.chance.randrange(value.size)] = self.chance.choice(BAD)
        feeds[target] = value
        return feeds


def holds(name: str, value) -> bool:
    array = np.asarray(value)
    if array.dtype.kind not in "fcV":
        return False
    if name == "has_inf_or_nan":
        return bool(nonfinite_mask(array).any())
    return bool((np.isnan if name == "has_nan" else np.isinf)(array).any())


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 12))])
def test_the_verdict_is_that_of_looking_at_every_tensor(tf, seed) -> None:
    config = tf.ConfigProto(intra_op_parallelism_threads=1)
    hits = checks = tensors = 0
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        made = RandomGraph(tf, seed)
        init = tf.global_variables_initializer()
        everything = [t for op in tf.get_default_graph().get_operations() for t in op.outputs]
        for _ in range(12):
            feeds = made.planted(tf, everything)
            name = made.chance.choice(list(FILTERS))
            call = RunCall(session, session.run, made.ends, feeds, None, None)
            assert not why_not_inside(call, keeping=False)
            known = call_checks(call, question_of(FILTERS[name]), WatchRequest(name, FILTERS[name]), CaptureRequest())
            session.run(init)
            _, (health,) = call.with_extra([known.health])
            session.run(init)
            fetched = [t for t in known.reached.tensors if t.name not in known.reached.opaque]
            try:
                _, values = call.with_extra([*fetched, *known.updated])
            except tf.errors.InvalidArgumentError as error:
                # The optimizer may replace an op of many outputs by one that has a single one, and then miss them.
                assert "does not have output" in error.message
                continue
            given = any(holds(name, value) for tensor, value in feeds.items() if tensor.name in known.given)
            bad = [t.name for t, value in zip([*fetched, *known.updated], values, strict=True) if holds(name, value)]
            assert (known.question.found_in(health) or given) is bool(bad), (name, bad[:3], [t.name for t in feeds])
            hits += bool(bad)
            checks, tensors = checks + known.checked, tensors + known.total
    assert hits
    assert checks < tensors


def test_every_dtype_is_checked(tf, graph) -> None:
    kinds = [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128]
    kinds += [getattr(tf.dtypes.experimental, name) for name in ("float8_e5m2", "float8_e4m3fn")]
    with tf.Session() as session:
        for kind in kinds:
            x = tf.placeholder(kind, [3])
            y = tf.identity(x)
            for question in map(question_of, FILTERS.values()):
                call = RunCall(session, session.run, y, {x: [1, 2, 3]}, None, None)
                known = call_checks(call, question, WatchRequest("", has_inf_or_nan), CaptureRequest())
                assert known.health is not None
                for value in (1.0, np.nan, np.inf, complex(0, np.nan), complex(0, -np.inf)):
                    if isinstance(value, complex) and not kind.is_complex:
                        continue
                    array = np.array([1, value, 3]).astype(kind.as_numpy_dtype)
                    found = question.found_in(session.run(known.health, {x: array}))
                    assert found is holds(question.name, array), (kind, question, value)
