"""Which input elements made an output element: the op on those alone must give that output again."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.analysis.graph.making.parts import parts_of, reduced_axes
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.values import Array

RNG = np.random.default_rng(7)


def _node(op_type: str, **attributes: str) -> Node:
    return Node("n", op_type, "", attributes=attributes)


def _random(*shape: int) -> Array:
    return RNG.normal(size=shape)


def _matmul_inputs(node: Node, a: Array, b: Array) -> Array:
    left = np.swapaxes(a, -1, -2) if node.attributes.get("adj_x", node.attributes.get("transpose_a")) == "True" else a
    right = (
        np.swapaxes(b, -1, -2) if node.attributes.get("adj_y", node.attributes.get("transpose_b")) == "True" else b
    )
    return left @ right


@pytest.mark.parametrize(
    ("node", "a", "b"),
    [
        (_node("MatMul"), _random(4, 3), _random(3, 2)),
        (_node("MatMul", transpose_a="True"), _random(3, 4), _random(3, 2)),
        (_node("MatMul", transpose_b="True"), _random(4, 3), _random(2, 3)),
        (_node("BatchMatMulV2", adj_x="True", adj_y="True"), _random(5, 3, 4), _random(5, 2, 3)),
        (_node("BatchMatMulV2"), _random(5, 1, 4, 3), _random(6, 3, 2)),
        (_node("BatchMatMulV2"), _random(4, 3), _random(6, 3, 2)),
    ],
)
def test_matmul_takes_a_row_and_a_column(node: Node, a: Array, b: Array) -> None:
    out = _matmul_inputs(node, a, b)
    for index in np.ndindex(out.shape):
        left, right = parts_of(node, [a, b], out.shape, index)
        assert left is not None and right is not None
        np.testing.assert_allclose(left.value @ right.value, out[index])


@pytest.mark.parametrize(
    "shapes", [((4, 3), (4, 3)), ((4, 3), (3,)), ((4, 3), (1, 3)), ((4, 1), (1, 3)), ((), (2, 2))]
)
def test_elementwise_follows_broadcasting(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    a, b = (_random(*shape) for shape in shapes)
    out = a * b
    for index in np.ndindex(out.shape):
        left, right = parts_of(_node("Mul"), [a, b], out.shape, index)
        assert left is not None and right is not None
        assert left.value * right.value == out[index]


def test_select_with_a_vector_condition_takes_rows() -> None:
    condition, a, b = np.array([True, False, True]), _random(3, 3), _random(3, 3)
    part = parts_of(_node("Select"), [condition, a, b], (3, 3), (1, 2))[0]
    assert part is not None and part.index == (1,)


def test_bias_in_nchw_runs_along_the_second_axis() -> None:
    x, bias = _random(2, 3, 4, 3), _random(3)
    node = _node("BiasAdd", data_format="NCHW")
    part = parts_of(node, [x, bias], x.shape, (1, 2, 0, 1))[1]
    assert part is not None and part.index == (2,)


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 2), (0, 1, 2), -1])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axes_seen", [True, False])
def test_reductions_take_a_slice(axis: int | tuple[int, ...], keep: bool, axes_seen: bool) -> None:
    x = _random(2, 3, 4)
    out = np.asarray(x.sum(axis=axis, keepdims=keep))
    axes = np.atleast_1d(np.array(axis, np.int32)) if axes_seen else None
    for index in np.ndindex(out.shape):
        part, _ = parts_of(_node("Sum", keep_dims=str(keep)), [x, axes], out.shape, index)
        assert part is not None
        np.testing.assert_allclose(part.value.sum(), out[index])


def test_a_reduction_whose_axis_cannot_be_told_says_so() -> None:
    x = _random(3, 3)
    assert reduced_axes("Sum", x.shape, None, (3,)) is None
    assert parts_of(_node("Sum"), [x, None], (3,), (1,)) == (None, None)


def test_einsum_reads_its_equation() -> None:
    a, b = _random(2, 3, 4), _random(4, 5)
    out = np.einsum("abc,cd->abd", a, b)
    left, right = parts_of(_node("Einsum", equation="abc,cd->abd"), [a, b], out.shape, (1, 2, 3))
    assert left is not None and right is not None
    np.testing.assert_allclose(left.value @ right.value, out[1, 2, 3])


def test_softmax_takes_the_row_and_a_loss_the_row_of_each_input() -> None:
    x = _random(4, 5)
    part = parts_of(_node("Softmax"), [x], x.shape, (2, 3))[0]
    assert part is not None and part.index == (2, None)
    labels = np.arange(4)
    both = parts_of(_node("SparseSoftmaxCrossEntropyWithLogits"), [x, labels], (4,), (3,))
    assert [part.index for part in both if part is not None] == [(3, None), (3,)]


def test_a_convolution_takes_the_sample() -> None:
    image, kernel = _random(2, 5, 5, 1), _random(3, 3, 1, 1)
    sample, filter_part = parts_of(_node("Conv2D"), [image, kernel], (2, 3, 3, 1), (1, 0, 0, 0))
    assert sample is not None and sample.value.shape == (5, 5, 1) and filter_part is None


@pytest.mark.parametrize("op_type", ["MatMul", "Mul", "Sum", "Softmax", "Conv2D", "Einsum", "Unheard"])
def test_unseen_inputs_and_odd_shapes_give_no_parts_and_no_error(op_type: str) -> None:
    assert parts_of(_node(op_type), [None, None], (2, 2), (0, 1)) == (None, None)
    odd = [np.zeros(0), np.zeros((9, 9, 9))]
    assert len(parts_of(_node(op_type), odd, (2, 2), (1, 1))) == 2
    assert len(parts_of(_node(op_type), [np.float32(1) * np.ones(())], (), ())) == 1
