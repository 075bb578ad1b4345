"""Functions to watch: small random graphs with calls, branches and loops, in which something can be planted."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.analysis.watch.datum import TensorDatum
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, filter_named
from tfdbg_cli.capture.functions.calling.instrumented import Instrumented
from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.checking.frontier import frontier_of
from tfdbg_cli.capture.functions.checking.static_facts import StaticFacts
from tfdbg_cli.capture.functions.definition.results import results_of
from tfdbg_cli.capture.functions.graph.function_graph import function_graph
from tfdbg_cli.capture.functions.graph.scopes import named_graphs_below, scope_of
from tfdbg_cli.capture.questions.known import question_of
from tfdbg_cli.capture.questions.question import Question
from tfdbg_cli.capture.runs.function.function_checks import with_updated
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.model.calls import Call, RunKind

Step = Callable[[list[Any], random.Random], Any]


class Both:
    """A concrete function that is watched in both ways, and asked value by value besides."""

    def __init__(self, concrete: Any, question: str = "has_inf_or_nan", admits: Any = None) -> None:
        self.root, atomic = scope_of(concrete), compat.atomic_of(concrete)
        found = question_of(filter_named(BUILT_IN_FILTERS, question))
        assert found is not None
        self.question: Question = found
        self.graph = with_updated(function_graph(concrete), self.root)
        facts = StaticFacts(self.root, named_graphs_below(atomic))
        self.admits = admits or (lambda *names: True)
        results = results_of(self.root)
        self.call = Call(1, RunKind.FUNCTION, tuple(map(str, results)))
        self.frontier = frontier_of(self.root, facts, self.question, self.admits, lambda: self.graph, results=results)
        assert not self.frontier.unasked
        self.captured = list(concrete.captured_inputs)
        self.kept = Instrumented(self.root, atomic, wanted=WantedRewrite(self.question, self.frontier))
        self.checked = Instrumented(
            self.root, atomic, wanted=WantedRewrite(self.question, self.frontier, values=False)
        )

    def agree(self, inputs: Sequence[Any], restore: Callable[[], None] = lambda: None) -> tuple[bool, list[Any]]:
        """Run both ways on `inputs`; the answer, and what was found by looking at all values, with its value."""
        given = [*inputs, *self.captured]
        restore()
        kept = self.kept.perform(given)
        restore()
        checked = self.checked.perform(given)
        assert kept.error is None, kept.error
        assert checked.error is None, checked.error
        found = []
        for row in range(len(kept.captured)):
            tensor, value = kept.captured[row], kept.captured.value(row)
            if tensor.op_type == "FusedBatchNormV3" and tensor.slot > 2:
                continue  # not written in inference
            wanted = self.admits(tensor.node, tensor.op_type, tensor.dtype)
            datum = TensorDatum(tensor, kept.captured, row, self.graph, None, self.call)
            if wanted and self.question.asked(datum, value):
                found.append((f"{tensor.name}@{tensor.execution} {tensor.op_type}", value))
        assert kept.found is bool(found), (found, [str(one.name) for one in self._all_checks()])
        assert checked.found is bool(found), (found, [str(one.name) for one in self._all_checks()])
        return bool(found), found

    def _all_checks(self) -> Iterator[Any]:
        for checks in self.frontier.checks.values():
            yield from checks


def _float(values: list[Any], chance: random.Random) -> Any:
    return chance.choice(values)


def _unary(name: str) -> Step:
    op = getattr(tf.raw_ops, name)
    return lambda values, chance: op(**{_first_argument(name): _float(values, chance)})


def _first_argument(name: str) -> str:
    return {"Identity": "input", "Relu": "features", "Relu6": "features", "Elu": "features", "Selu": "features",
            "Softplus": "features", "Softsign": "features", "LeakyRelu": "features", "StopGradient": "input",
            "Snapshot": "input", "L2Loss": "t", "IsNan": "x"}.get(name, "x")  # fmt: skip


def _binary(op: Callable[[Any, Any], Any]) -> Step:
    return lambda values, chance: op(_float(values, chance), _float(values, chance))


def _with_constant(op: Callable[[Any, Any], Any]) -> Step:
    def step(values: list[Any], chance: random.Random) -> Any:
        x = _float(values, chance)
        constant = chance.choice([0.0, 1.0, -2.0, 1e-30, 0.5])
        shape = chance.choice([[], [1], [3]])
        return op(x, tf.constant(constant, x.dtype, shape))

    return step


def _selected(values: list[Any], chance: random.Random) -> Any:
    x = _float(values, chance)
    return tf.where(x > 0, x, tf.zeros_like(x))


def _empty(values: list[Any], chance: random.Random) -> Any:
    """What is read by an op whose result is empty."""
    x = _float(values, chance)
    _ = x + tf.zeros([0, 1, 1], x.dtype)
    return tf.reduce_sum(x[:0] + x[:0], keepdims=True) + tf.zeros([2, 3], x.dtype)


def _unknown_empty(values: list[Any], chance: random.Random) -> Any:
    """The same with lengths that are not known before the run."""
    x = _float(values, chance)
    none = tf.boolean_mask(x, tf.fill([2], x[0, 0] > 1e30))
    gone = tf.reduce_sum(x, 0, keepdims=True) + none
    return (
        tf.reduce_max(gone, keepdims=True) * 0.0 + tf.ones([2, 3], x.dtype)
        if chance.random() < 0.5
        else (tf.reduce_sum(gone) + tf.ones([2, 3], x.dtype))
    )


def _matmul(values: list[Any], chance: random.Random) -> Any:
    x, y = _float(values, chance), _float(values, chance)
    kind = chance.randrange(5)
    if kind == 0:
        return tf.matmul(tf.matmul(x, y, transpose_b=True), y)
    if kind == 1:
        return tf.einsum("ij,kj->ik", x, y) @ x
    if kind == 2:
        return tf.matmul(x, tf.zeros([3, 3], x.dtype))
    if kind == 3:
        return tf.matmul(x[None], y[None], transpose_a=True)[0, :2]
    return tf.tensordot(x, tf.eye(3, dtype=x.dtype), 1)


def _shaped(values: list[Any], chance: random.Random) -> Any:
    x, y = _float(values, chance), _float(values, chance)
    kind = chance.randrange(10)
    if kind == 0:
        return tf.concat([x, y], 0)[1:3]
    if kind == 1:
        return tf.stack([x, y])[chance.randrange(2)]
    if kind == 2:
        return tf.transpose(tf.reshape(tf.transpose(x), [3, 2]))
    if kind == 3:
        first, second = tf.split(x, [1, 2], 1)
        return tf.concat([second, first], 1)
    if kind == 4:
        return tf.gather(x, [0, 0])
    if kind == 5:
        return tf.reverse(tf.roll(x, 1, 1), [0])
    if kind == 6:
        return tf.pad(x, [[1, 0], [0, 0]])[:2]
    if kind == 7:
        return tf.tile(x[:1], [2, 1])
    if kind == 8:
        return tf.stack(tf.unstack(x)[::-1])
    return tf.expand_dims(tf.squeeze(x[:1]), 0) + tf.zeros([2, 1], x.dtype)


def _reduced(values: list[Any], chance: random.Random) -> Any:
    x = _float(values, chance)
    reduce = chance.choice([tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_prod,
                            tf.math.reduce_euclidean_norm])  # fmt: skip
    return reduce(x, chance.choice([None, 0, 1]), keepdims=True) + tf.ones([2, 3], x.dtype)


def _cast(values: list[Any], chance: random.Random) -> Any:
    x = _float(values, chance)
    kind = chance.randrange(5)
    if kind == 0:
        return tf.cast(tf.cast(x, tf.float16), x.dtype)
    if kind == 1:
        return tf.cast(tf.cast(x, tf.int32), x.dtype)
    if kind == 2:
        return tf.cast(tf.cast(x, tf.bfloat16) * 2, x.dtype)
    if kind == 3:
        return tf.math.real(tf.cast(x, tf.complex64) * tf.constant(1 + 2j, tf.complex64))
    return tf.cast(tf.cast(x, tf.dtypes.experimental.float8_e5m2), x.dtype)


def _convolved(values: list[Any], chance: random.Random) -> Any:
    x, y = _float(values, chance), _float(values, chance)
    image, window = tf.reshape(x, [1, 2, 3, 1]), tf.reshape(y[:, :2], [2, 2, 1, 1])
    stride, padding = chance.choice([1, 2, 3]), chance.choice(["SAME", "VALID"])
    kind = chance.randrange(4)
    if kind == 0:
        made = tf.nn.conv2d(image, window, stride, padding)
    elif kind == 1:
        made = tf.nn.avg_pool2d(image, 2, stride, padding)
    elif kind == 2:
        made = tf.nn.max_pool2d(image, 2, stride, padding)
    else:
        made = tf.raw_ops.FusedBatchNormV3(
            x=image, scale=x[0, :1], offset=y[0, :1], mean=[0.0], variance=[1.0], is_training=False
        ).y
    return tf.reduce_mean(made) + tf.zeros([2, 3])


def _normalized(values: list[Any], chance: random.Random) -> Any:
    x = _float(values, chance)
    return chance.choice([tf.nn.softmax, tf.nn.log_softmax, tf.nn.l2_normalize, tf.math.cumsum, tf.sort])(x)


def _called(values: list[Any], chance: random.Random) -> Any:
    """A function of its own, with a graph of its own inside."""
    steps = [chance.choice(STRAIGHT) for _ in range(4)]

    @tf.function
    def inner(a: Any, b: Any) -> Any:
        own = [a, b]
        for step in steps:
            own.append(step(own, chance))
        return own[-1], own[2]

    return _fit(inner(_float(values, chance), _float(values, chance))[chance.randrange(2)])


def _branched(values: list[Any], chance: random.Random) -> Any:
    x, y = _float(values, chance), _float(values, chance)
    first, second = chance.choice(STRAIGHT), chance.choice(STRAIGHT)
    return tf.cond(
        tf.reduce_sum(x) > chance.choice([-1e9, 0.0, 1e9]),
        lambda: _fit(first([x, y], chance)),
        lambda: _fit(second([y], chance)),
    )


def _cased(values: list[Any], chance: random.Random) -> Any:
    x, y = _float(values, chance), _float(values, chance)
    steps = [chance.choice(STRAIGHT) for _ in range(3)]
    index = tf.cast(tf.clip_by_value(x[0, 0], 0.0, 2.0), tf.int32)
    return tf.switch_case(index, [lambda step=step: _fit(step([x, y], chance)) for step in steps])


def _looped(values: list[Any], chance: random.Random) -> Any:
    x, y = _float(values, chance), _float(values, chance)
    steps = [chance.choice(STRAIGHT) for _ in range(2)]
    turns = chance.choice([0, 1, 3])
    by_value = chance.random() < 0.5

    def going_on(i: Any, a: Any, b: Any) -> Any:
        if by_value:
            return (i < turns) & (tf.reduce_max(tf.exp(a) * 2.0) > -1.0)
        return i < turns

    def body(i: Any, a: Any, b: Any) -> Any:
        new = _fit(steps[0]([a, b], chance))
        return i + 1, b, tf.where(tf.range(3.0) < 2.0, new, _fit(steps[1]([new, y], chance)))

    _, a, b = tf.while_loop(going_on, body, (tf.constant(0), x, y))
    return chance.choice([a, b])


def _fit(value: Any) -> Any:
    return tf.ensure_shape(tf.cast(value, tf.float32), [2, 3])


_UNARY = ("Neg", "Abs", "Square", "Sqrt", "Rsqrt", "Exp", "Expm1", "Log", "Log1p", "Sin", "Cos", "Tanh", "Sigmoid",
          "Sign", "Floor", "Ceil", "Rint", "Round", "Reciprocal", "Relu", "Relu6", "Elu", "Selu", "Softplus",
          "Softsign", "LeakyRelu", "Erf", "Atan", "Asinh", "Sinh", "Cosh", "Tan", "Identity", "StopGradient",
          "Snapshot", "Inv")  # fmt: skip
_BINARY = (tf.add, tf.subtract, tf.multiply, tf.divide, tf.maximum, tf.minimum, tf.pow, tf.math.squared_difference,
           tf.math.divide_no_nan, tf.math.multiply_no_nan, tf.math.xlogy, tf.math.floormod, tf.atan2)  # fmt: skip
STRAIGHT: list[Step] = [
    *map(_unary, _UNARY),
    *map(_binary, _BINARY),
    *[_with_constant(op) for op in (tf.add, tf.multiply, tf.divide, tf.subtract)],
    *[_selected, _empty, _matmul, _matmul, _shaped, _shaped, _shaped, _reduced, _reduced, _cast, _cast],
    *[_convolved, _normalized, _unknown_empty],
]
FRAMED: list[Step] = [_called, _branched, _cased, _looped]


def random_function(seed: int, size: int = 10) -> tuple[Any, Any]:
    """A concrete function of two float tensors of shape [2, 3], and the variable that it updates."""
    chance = random.Random(seed)
    variable = tf.Variable(tf.ones([2, 3]))
    plan = [chance.choice(FRAMED if chance.random() < 0.25 else STRAIGHT) for _ in range(size)]
    update = chance.choice([variable.assign, variable.assign_add, variable.assign_sub])

    @tf.function(autograph=False)
    def function(x: Any, y: Any) -> Any:
        values = [x, y, variable.read_value()]
        for step in plan:
            made = step(values, chance)
            if made.shape.rank == 2 and made.shape[0] == 2 and made.shape[1] == 3 and made.dtype == tf.float32:
                values.append(made)
        update(values[-1])
        kept = [value for value in values[2:] if chance.random() < 0.3]
        return [values[-1], *kept]

    spec = tf.TensorSpec([2, 3], tf.float32)
    return function.get_concrete_function(spec, spec), variable


def planted(seed: int) -> Iterator[tuple[Any, Any]]:
    """Pairs of inputs: one healthy, others with something in them."""
    random_numbers = np.random.RandomState(seed)
    x, y = (random_numbers.normal(size=(2, 3)).astype(np.float32) for _ in range(2))
    yield tf.constant(x), tf.constant(y)
    yield tf.constant(np.abs(x) + 0.5), tf.constant(np.abs(y) + 0.5)
    for bad in (np.nan, np.inf, -np.inf):
        spoiled = x.copy()
        spoiled[random_numbers.randint(2), random_numbers.randint(3)] = bad
        yield tf.constant(spoiled), tf.constant(y)
        yield tf.constant(np.abs(y)), tf.constant(spoiled)
