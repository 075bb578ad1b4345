"""The way by which one element came to be what it is: which term, which branch, which row."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import INF, NAN, Op, made_run, op

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.ways.element_way import element_way

X = op("x", "Placeholder", value=[1.0, 2.0])
BIG = op("big", "Placeholder", value=[1e20, 3.0])
NEAR = op("near", "Placeholder", value=[2.0, 3.0])
KEEP = op("keep", "Placeholder", value=np.array([False, True]))
NUMBER = op("number", "Const", value=-INF)


def _way(*ops: Op, element: tuple[int, ...] = (0,), through: int | None = None) -> dict[str, int]:
    run = made_run(*ops)
    last = len(run.tensors) - 1
    return element_way(run, Lineage(run), last, element, through)


@pytest.mark.parametrize(
    ("ops", "way"),
    [
        ((X, BIG, op("d", "Sub", "x", "big", value=[-1e20, -1.0])), {"d": 1}),
        ((BIG, X, op("d", "AddV2", "big", "x", value=[1e20, 5.0])), {"d": 0}),
        ((X, BIG, NEAR, op("d", "AddN", "x", "near", "big", value=[1e20, 8.0])), {"d": 2}),
        ((X, NEAR, op("d", "Sub", "x", "near", value=[-1.0, -1.0])), {}),
        (
            (X, op("below", "Placeholder", value=[-4.0, 1.0]), op("d", "AddV2", "x", "below", value=[-3.0, 3.0])),
            {"d": 1},
        ),
        ((X, op("below", "Placeholder", value=[-0.5, 1.0]), op("d", "AddV2", "x", "below", value=[0.5, 3.0])), {}),
        ((X, BIG, op("d", "Mul", "x", "big", value=[1e20, 6.0])), {"d": 1}),
        ((X, op("tiny", "Placeholder", value=[0.0, 0.5]), op("d", "Mul", "x", "tiny", value=[0.0, 1.0])), {"d": 1}),
        ((NEAR, op("d", "Mul", "near", "near", value=[4.0, 9.0])), {"d": 0}),
        (
            (X, op("below", "Placeholder", value=[-1.0, 1.0]), op("d", "Mul", "x", "below", value=[-1.0, 2.0])),
            {"d": 1},
        ),
        ((X, BIG, op("d", "Maximum", "x", "big", value=[1e20, 3.0])), {"d": 1}),
        ((X, BIG, op("d", "Minimum", "x", "big", value=[1.0, 2.0])), {"d": 0}),
        ((X, op("d", "Minimum", "x", "x", value=[1.0, 2.0])), {"d": 0}),
        ((X, op("as_x", "Placeholder", value=[1.0, 2.0]), op("d", "Minimum", "x", "as_x", value=[1.0, 2.0])), {}),
        ((X, op("lost", "Neg", "x"), op("d", "Sub", "x", "lost", value=[NAN, NAN])), {}),
        ((X, NUMBER, op("d", "Mul", "number", "x", value=[-INF, -INF])), {"d": 1}),
    ],
    ids=[
        "the larger of two",
        "the first",
        "of many",
        "none is far larger",
        "the negative term",
        "a negative term that did not count",
        "the factor that is far from 1",
        "the factor 0",
        "a square",
        "the negative factor",
        "the larger one",
        "the smaller one",
        "one twice",
        "two alike",
        "not seen",
        "a number",
    ],
)
def test_the_term_that_made_a_sum_so_large(ops: tuple[Op, ...], way: dict[str, int]) -> None:
    assert _way(*ops) == way


def test_the_branch_that_was_chosen_or_the_condition_where_that_is_a_number() -> None:
    chosen = X, BIG, KEEP, op("s", "SelectV2", "keep", "x", "big", value=[1e20, 2.0])
    assert _way(*chosen) == {"s": 2}
    assert _way(*chosen, element=(1,)) == {"s": 1}
    masked = X, NUMBER, KEEP, op("s", "SelectV2", "keep", "x", "number", value=[-INF, 2.0])
    assert _way(*masked) == {"s": 0}
    assert _way(*masked, element=(1,)) == {"s": 1}
    given = X, op("n", "Placeholder", value=-INF), KEEP, op("s", "SelectV2", "keep", "x", "n", value=[-INF, 2.0])
    assert _way(*given) == {"s": 0}, "op by op, a number that the program wrote comes in as data does"


def test_the_matrix_of_far_larger_numbers() -> None:
    batch, grown = op("batch", "Placeholder", value=[[1.0, 2.0]]), op("w", "VariableV2", value=[[1e20], [1.0]])
    usual = op("v", "VariableV2", value=[[0.01], [0.02]])
    product = op("d", "MatMul", "batch", "w", value=[[1e20]])
    assert _way(batch, grown, product, element=(0, 0)) == {"d": 1}
    assert _way(batch, usual, op("d", "MatMul", "batch", "v", value=[[0.05]]), element=(0, 0)) == {"d": 0}


def test_the_matrix_of_zeros() -> None:
    """A blind test: a memory of zeros made a norm 0, and the chain went by the key that it is compared with."""
    memory, key = op("memory", "Placeholder", value=[[0.0, 0.0]]), op("key", "VariableV2", value=[[0.5], [2.0]])
    product = op("d", "MatMul", "memory", "key", value=[[0.0]])
    assert _way(memory, key, product, element=(0, 0)) == {"d": 0}
    turned = op("d", "MatMul", "key", "memory", transpose_a="True", transpose_b="True", value=[[0.0]])
    assert _way(memory, key, turned, element=(0, 0)) == {"d": 1}


@pytest.mark.parametrize(("element", "position"), [((0,), 0), ((1,), 0), ((2,), 1), ((3,), 1)])
def test_the_part_of_what_was_joined(element: tuple[int, ...], position: int) -> None:
    joined = op("c", "ConcatV2", "x", "big", "axis", value=[1.0, 2.0, 1e20, 3.0])
    assert _way(X, BIG, op("axis", "Const", value=np.array(0)), joined, element=element) == {"c": position}
    packed = op("p", "Pack", "x", "big", value=[[1.0, 1e20], [2.0, 3.0]], axis="1")
    assert _way(X, BIG, packed, element=(element[0] % 2, position)) == {"p": position}


def test_the_element_is_followed_through_ops_of_one_input_and_reductions() -> None:
    ops = (
        X, BIG, op("d", "Sub", "x", "big", value=[-1e20, -1.0]), op("n", "Neg", "d", value=[1e20, 1.0]),
        op("axis", "Const", value=np.array([0])), op("sum", "Sum", "n", "axis", value=1e20),
        op("q", "Square", "sum", value=INF),
    )  # fmt: skip
    assert _way(*ops, element=()) == {"q": 0, "sum": 0, "n": 0, "d": 1}
    least = op("least", "Min", "n", "axis", value=1.0)
    assert _way(*ops[:-2], least, element=()) == {"least": 0, "n": 0}, "its element is the second, of near terms"


@pytest.mark.parametrize("op_type", ["Sqrt", "Log", "Rsqrt"])
def test_a_root_of_what_is_negative_asks_which_factor_is(op_type: str) -> None:
    """A blind test: of a sum of squares, 20, and data of -0.9 it was the sum, since that is farther from 1."""
    large = op("large", "Placeholder", value=[20.0, 1e6])
    below = op("below", "Placeholder", value=[-0.9, -1.0])
    product = op("d", "Mul", "large", "below", value=[-18.0, -1e6])
    scaled = op("s", "AddV2", "d", "x", value=[-17.0, 2 - 1e6])
    root = op("root", op_type, "s", value=[NAN, NAN])
    for element in range(2):
        assert _way(X, large, below, product, scaled, root, element=(element,)) == {"root": 0, "s": 0, "d": 1}
    wave = op("wave", "Exp", "d", value=[1e-8, 0.0])
    assert _way(large, below, product, wave)["d"] == 0, "how large it is, there"
    inverse = op("inverse", "Reciprocal", "d", value=[-1 / 18, -1e-6])
    assert _way(large, below, product, inverse)["d"] == 0, "the sign is no fault there"


def test_a_product_of_all_before_is_followed_to_the_factor_that_is_0() -> None:
    """A blind test: the chain to the logarithm of a product of factors ended, or went by the largest."""
    factors = op("factors", "Mul", "big", "keep", value=[1e20, 0.0])
    keep = op("keep", "Placeholder", value=[1.0, 0.0])
    axis = op("axis", "Const", value=np.array(0, np.int32))
    for op_type, value, element in (("Cumprod", [1e20, 0.0], (1,)), ("Prod", 0.0, ())):
        made = op("made", op_type, "factors", "axis", value=value)
        assert _way(BIG, keep, factors, axis, made, element=element) == {"made": 0, "factors": 1}


def test_shapes_and_places_are_no_way() -> None:
    dims, number = op("dims", "Placeholder", value=np.array([2])), op("number", "Placeholder", value=100.0)
    assert _way(dims, number, op("filled", "Fill", "dims", "number", value=[100.0, 100.0])) == {}
    at = op("at", "Placeholder", value=np.array([[1]]))
    assert _way(at, BIG, dims, op("put", "ScatterNd", "at", "big", "dims", value=[0.0, 1e20])) == {"put": 1}


def test_it_begins_with_the_input_that_is_to_blame() -> None:
    ops = X, BIG, op("d", "AddV2", "x", "big", value=[1e20, 5.0])
    assert _way(*ops, through=0) == {"d": 0}
    assert _way(*ops, through=7) == {}


def test_what_is_made_of_nothing_leads_to_the_indices_that_took_nothing() -> None:
    ops = (
        X, KEEP, op("axis", "Const", value=0), op("where", "Where", "keep", value=np.zeros((0, 1), np.int64)),
        op("at", "Squeeze", "where", value=np.zeros(0, np.int64)),
        op("taken", "GatherV2", "x", "at", "axis", value=np.zeros(0, np.float32)),
        op("axes", "Const", value=np.array([0])), op("mean", "Mean", "taken", "axes", value=NAN),
    )  # fmt: skip
    assert _way(*ops, element=()) == {"mean": 0, "taken": 1, "at": 0}


def test_a_circle_ends() -> None:
    ops = op("a", "Neg", "b", values=([1.0], [1.0])), op("b", "Neg", "a", values=([1.0], [1.0]))
    assert set(_way(*ops)) <= {"a", "b"}
