"""What is reckoned of an op's output without a look at it is never too small, tried with TensorFlow's kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdbg_cli.capture.runs.eager.checks import norm_bound
from tfdbg_cli.ops.norms import FAR_FROM_OVERFLOW, RULES

pytestmark = pytest.mark.tf
raw = tf.raw_ops
Numbers = Callable[..., Any]

# By op type calls of it that have the shapes of use, broadcasting included.
_CALLS: Mapping[str, list[Callable[[Numbers], tuple[list[Any], Any]]]] = {
    "Fill": [lambda n: ([(4, 3), v := n()], raw.Fill(dims=(4, 3), value=v))],
    "Pack": [lambda n: (v := [n(2, 3), n(2, 3)], raw.Pack(values=v, axis=1))],
    "ConcatV2": [lambda n: ([*(v := [n(2, 3), n(1, 3)]), 0], raw.ConcatV2(values=v, axis=0))],
    "AddN": [lambda n: (v := [n(2, 3), n(2, 3), n(2, 3)], raw.AddN(inputs=v))],
    "Split": [lambda n: ([0, v := n(4, 3)], raw.Split(axis=0, value=v, num_split=2)[1])],
    "SplitV": [lambda n: ([v := n(4, 3)], raw.SplitV(value=v, size_splits=[1, 3], axis=0, num_split=2)[1])],
    "Unpack": [lambda n: ([v := n(4, 3)], raw.Unpack(value=v, num=4, axis=0)[2])],
    "Conv2D": [
        lambda n: (
            [v := n(2, 5, 5, 2), f := n(3, 3, 2, 4)],
            raw.Conv2D(input=v, filter=f, strides=[1, 1, 1, 1], padding="SAME"),
        )
    ],
    "Conv2DBackpropInput": [
        lambda n: (
            [(2, 5, 5, 2), f := n(3, 3, 2, 4), d := n(2, 5, 5, 4)],
            raw.Conv2DBackpropInput(
                input_sizes=(2, 5, 5, 2), filter=f, out_backprop=d, strides=[1, 1, 1, 1], padding="SAME"
            ),
        )
    ],
    "Conv2DBackpropFilter": [
        lambda n: (
            [v := n(2, 5, 5, 2), (3, 3, 2, 4), d := n(2, 5, 5, 4)],
            raw.Conv2DBackpropFilter(
                input=v, filter_sizes=(3, 3, 2, 4), out_backprop=d, strides=[1, 1, 1, 1], padding="SAME"
            ),
        )
    ],
    "BatchMatMul": [lambda n: ([a := n(2, 3, 4), b := n(2, 4, 5)], raw.BatchMatMul(x=a, y=b))],
    "BatchMatMulV2": [lambda n: ([a := n(2, 1, 3, 4), b := n(3, 4, 5)], raw.BatchMatMulV2(x=a, y=b))],
    "MatMul": [
        lambda n: ([a := n(3, 4), b := n(4, 2)], raw.MatMul(a=a, b=b)),
        lambda n: ([a := n(4, 3), b := n(2, 4)], raw.MatMul(a=a, b=b, transpose_a=True, transpose_b=True)),
    ],
    "Select": [lambda n: ([c := n(2, 3) > 0, a := n(2, 3), b := n(2, 3)], raw.Select(condition=c, x=a, y=b))],
    "SelectV2": [lambda n: ([c := n(2, 3) > 0, a := n(3), b := n(2, 1)], raw.SelectV2(condition=c, t=a, e=b))],
    "BiasAdd": [lambda n: ([a := n(2, 3), b := n(3)], raw.BiasAdd(value=a, bias=b))],
    "BiasAddGrad": [lambda n: ([a := n(2, 3)], raw.BiasAddGrad(out_backprop=a))],
    "Slice": [lambda n: ([a := n(4, 3)], raw.Slice(input=a, begin=[1, 0], size=[2, 2]))],
    "StridedSlice": [lambda n: ([a := n(4, 3)], a[::2, 1:])],
    "Pad": [lambda n: ([a := n(2, 3)], raw.Pad(input=a, paddings=[[1, 2], [0, 1]]))],
    "Reshape": [lambda n: ([a := n(2, 3)], raw.Reshape(tensor=a, shape=[3, 2]))],
    "ExpandDims": [lambda n: ([a := n(2, 3)], raw.ExpandDims(input=a, axis=1))],
    "Squeeze": [lambda n: ([a := n(2, 1, 3)], raw.Squeeze(input=a))],
    "Transpose": [lambda n: ([a := n(2, 3)], raw.Transpose(x=a, perm=[1, 0]))],
    "Reverse": [lambda n: ([a := n(2, 3)], raw.Reverse(tensor=a, dims=[True, False]))],
    "ReverseV2": [lambda n: ([a := n(2, 3)], raw.ReverseV2(tensor=a, axis=[1]))],
    "Roll": [lambda n: ([a := n(2, 3)], raw.Roll(input=a, shift=1, axis=1))],
    "BroadcastTo": [lambda n: ([a := n(1, 3)], raw.BroadcastTo(input=a, shape=[4, 3]))],
    "Tile": [lambda n: ([a := n(2, 3)], raw.Tile(input=a, multiples=[2, 4]))],
    "StopGradient": [lambda n: ([a := n(2, 3)], tf.stop_gradient(a))],
    "PreventGradient": [lambda n: ([a := n(2, 3)], raw.PreventGradient(input=a))],
    "Snapshot": [lambda n: ([a := n(2, 3)], raw.Snapshot(input=a))],
    "Identity": [lambda n: ([a := n(2, 3)], raw.Identity(input=a))],
    **{
        name: [lambda n, op=name: ([a := n(2, 3)], getattr(raw, op)(x=a))]
        for name in ("Neg", "Abs", "Square", "Sigmoid", "Tanh", "Sin", "Cos", "Erf", "Sign", "ZerosLike", "OnesLike")
    },
    **{
        name: [lambda n, op=name: ([a := n(2, 3)], getattr(raw, op)(features=a))]
        for name in ("Relu", "Relu6", "Softsign")
    },
    "Softmax": [lambda n: ([a := n(2, 3)], raw.Softmax(logits=a))],
    **{
        name: [lambda n, op=name: ([d := n(2, 3), a := n(2, 3)], getattr(raw, op)(gradients=d, features=a))]
        for name in ("ReluGrad", "Relu6Grad")
    },
    **{
        name: [lambda n, op=name: ([y := n(2, 3), d := n(2, 3)], getattr(raw, op)(y=y, dy=d))]
        for name in ("TanhGrad", "SigmoidGrad")
    },
    **{
        name: [
            lambda n, op=name: ([a := n(2, 3), b := n(2, 3)], getattr(raw, op)(x=a, y=b)),
            lambda n, op=name: ([a := n(2, 1, 3), b := n(4, 1)], getattr(raw, op)(x=a, y=b)),
            lambda n, op=name: ([a := n(), b := n(5)], getattr(raw, op)(x=a, y=b)),
        ]
        for name in ("Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference")
    },
    **{
        name: [
            lambda n, op=name: ([a := n(2, 3)], getattr(raw, op)(input=a, axis=[0])),
            lambda n, op=name: ([a := n(2, 3)], getattr(raw, op)(input=a, axis=[0, 1], keep_dims=True)),
        ]
        for name in ("Sum", "Mean", "Max", "Min")
    },
}
_DRAWN = {"RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2"}  # shown in another test


def test_every_rule_is_tried() -> None:
    assert set(_CALLS) | _DRAWN == set(RULES)


@pytest.mark.parametrize("op_type", sorted(_CALLS))
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(-12, 12))
def test_a_bound_is_never_below_the_norm(op_type: str, seed: int, exponent: float) -> None:
    chance = np.random.default_rng(seed)

    def numbers(*shape: int) -> Any:
        spread = chance.normal(size=shape) * 10.0 ** chance.uniform(-3, 3, size=shape) * 10.0**exponent
        return tf.constant(spread.astype("f"))

    for call in _CALLS[op_type]:
        inputs, output = call(numbers)
        counted, of_norms = RULES[op_type]
        norms = [norm_bound(np.asarray(value)) for value in inputs[counted]]
        assert None not in norms
        bound = of_norms(norms, int(tf.size(output)))
        exact = math.sqrt(np.sum(np.square(output.numpy().astype(np.float64))))
        if bound < FAR_FROM_OVERFLOW:  # else it is not relied on
            assert exact <= bound * (1 + 1e-6)  # to round is allowed


def test_numbers_drawn_between_zero_and_one() -> None:
    drawn = tf.random.uniform([1000]).numpy()
    for op_type in _DRAWN:
        assert np.sqrt(np.sum(drawn**2)) <= RULES[op_type][1]([(3.0, 1)], 1000)


def test_of_an_empty_group_nothing_is_said() -> None:
    empty = tf.zeros([0, 3])
    for op_type, reduced in (("Max", tf.reduce_max), ("Min", tf.reduce_min), ("Mean", tf.reduce_mean)):
        assert not np.isfinite(reduced(empty, axis=0).numpy()).any()
        known = norm_bound(empty.numpy())
        assert known is not None
        assert RULES[op_type][1]([known], 3) == math.inf
