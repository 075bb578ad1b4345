"""How far two arrays lie apart: absolute, relative, in steps; what counts, by the element types."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tfdbg_cli.analysis.difference.errors import Errors, joined, largest, measured
from tfdbg_cli.analysis.difference.tolerance import EXACT, Tolerance

DEFAULT = Tolerance()
FLOATS = [
    np.float64, np.float32, np.float16, np.complex64, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e4m3fn,
]  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
def test_an_array_equals_itself_with_nan_and_infinities(dtype) -> None:
    value = np.array([1, np.nan, 3, 0], np.float32).astype(dtype)
    found = measured(value, value.copy(), EXACT)
    assert (found.unequal, found.beyond, found.max_abs) == (0, 0, 0.0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_one_step_is_one_ulp_and_does_not_count(dtype) -> None:
    part = np.float32 if dtype is np.complex64 else dtype
    step = float(ml_dtypes.finfo(part).eps)
    found = measured(np.array([1], dtype), np.array([1 + step], dtype), DEFAULT)
    assert (found.unequal, found.beyond, found.max_ulp) == (1, 0, 1.0)
    assert found.max_abs == step
    assert measured(np.array([1], dtype), np.array([4], dtype), DEFAULT).beyond == 1


@pytest.mark.parametrize(("dtype", "steps"), [(np.float32, 48), (np.float16, 12)])
def test_what_does_not_count_of_the_largest_element_is_what_the_page_says(dtype, steps: int) -> None:
    """A blind test: docs/differences.md said 16 steps of float32 and 4 of float16, and half as many."""
    page = (Path(__file__).parents[3] / "docs" / "differences.md").read_text("utf-8")
    assert "|a - b| ≤ N·eps·max(|a|, |b|) + N/2·eps·M" in page and f"{steps} of" in " ".join(page.split())
    bits = np.dtype(f"i{np.dtype(dtype).itemsize}")
    below = np.nextafter(dtype(2), dtype(0))  # its step is the smallest beside its size
    apart = [np.array([below.view(bits) - bits.type(n)]).view(dtype) for n in (steps - 1, steps + 1)]
    assert [measured(np.array([below]), other, DEFAULT).beyond for other in apart] == [0, 1]


def test_errors_are_the_largest_and_relative_to_the_larger_of_both() -> None:
    found = measured(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.5, 3.0]), EXACT)
    assert (found.unequal, found.beyond, found.size, found.scale) == (2, 2, 3, 4.0)
    assert (found.max_abs, found.max_rel) == (1.0, 0.25)
    assert found.relative == 0.25


def test_a_tolerance_that_was_asked_for_counts_alone() -> None:
    one, two = np.array([1.0, 100.0]), np.array([1.01, 100.0])
    assert measured(one, two, Tolerance(rtol=0.1)).beyond == 0
    assert measured(one, two, Tolerance(rtol=0.001)).beyond == 1
    assert measured(one, two, Tolerance(atol=0.02)).beyond == 0
    assert measured(one, np.nextafter(one, 2), Tolerance(atol=0.0)).beyond == 2


def test_where_one_is_nan_or_an_infinity_of_the_other_sign_they_differ() -> None:
    one = np.array([np.nan, np.inf, np.inf, 1.0], np.float32)
    two = np.array([1.0, -np.inf, np.inf, 1.0], np.float32)
    found = measured(one, two, Tolerance(rtol=1.0, atol=1e9))
    assert (found.nonfinite, found.beyond) == (2, 2)


def test_the_coarser_type_says_what_counts() -> None:
    exact = np.linspace(0.5, 3, 50, dtype=np.float32)
    rounded = exact.astype(ml_dtypes.bfloat16)
    found = measured(exact, rounded, DEFAULT)
    assert found.unequal and not found.beyond
    assert found.max_ulp is not None and found.max_ulp <= 0.5
    assert measured(rounded, exact * 1.2, DEFAULT).beyond == 50


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_are_exact_however_large(dtype) -> None:
    found = measured(np.array([2**60], dtype), np.array([2**60 + 1], dtype), DEFAULT)
    assert (found.unequal, found.beyond, found.max_ulp) == (1, 1, None)
    assert found.max_abs == 1, "a float64 has them equal"
    odd = measured(np.array([2**53 + 1], dtype), np.array([2**53 + 4], np.uint64), Tolerance(atol=3))
    assert (odd.max_abs, odd.unequal, odd.beyond) == (3, 1, 0)
    assert measured(np.array([3], dtype), np.array([3.0]), DEFAULT).unequal == 0


@pytest.mark.parametrize(
    ("one", "two", "apart"),
    [
        (np.int64(-(2**63)), np.int64(2**63 - 1), 2.0**64), (np.int64(-1), np.uint64(2**64 - 1), 2.0**64),
        (np.int64(2**62 + 1), np.uint64(2**62), 1), (np.int8(-128), np.int8(127), 255),
        (np.int8(-3), np.int64(9), 12), (np.uint64(2**63), np.uint64(2**63 + 1), 1),
    ],
)  # fmt: skip
def test_integers_of_both_signs_and_of_several_types(one, two, apart: float) -> None:
    for pair in ((one, two), (two, one)):
        found = measured(*map(np.atleast_1d, pair), DEFAULT)
        assert (found.max_abs, found.unequal, found.beyond) == (apart, 1, 1)


def test_texts_are_exact() -> None:
    one, two = np.array([b"a", b"b"], object), np.array([b"a", b"c"], object)
    found = measured(one, two, Tolerance(rtol=1.0))
    assert (found.unequal, found.beyond) == (1, 1)
    assert measured(one, one.copy(), DEFAULT).unequal == 0


def test_small_elements_are_measured_beside_the_largest() -> None:
    one = np.array([1e-9, 1.0], np.float32)
    two = np.array([-1e-8, 1.0], np.float32)
    assert measured(one, two, DEFAULT).beyond == 0
    assert measured(one * 1e-9, two * 1e-9, DEFAULT).beyond == 0
    assert measured(one[:1], two[:1], DEFAULT).beyond == 1


def test_views_and_empty_arrays_and_scalars() -> None:
    one = np.arange(12.0).reshape(3, 4)
    assert measured(one.T, one.T.copy(), EXACT).unequal == 0
    assert measured(np.zeros((0, 3)), np.zeros((0, 3)), EXACT).size == 0
    assert measured(np.float32(1)[...], np.float32(2)[...], EXACT).beyond == 1
    assert measured(np.broadcast_to(np.float32(1), (5, 5)), np.ones((5, 5), np.float32), EXACT).unequal == 0
    assert largest(np.array([np.inf, -3.0, np.nan])) == 3.0 and largest(np.array([b"x"], object)) == 0.0


@given(
    hnp.arrays(np.float32, hnp.array_shapes(max_dims=2), elements=st.floats(width=32)),
    hnp.arrays(np.float32, hnp.array_shapes(max_dims=2), elements=st.floats(width=32)),
)
def test_whichever_comes_first(one, two) -> None:
    if one.shape == two.shape:
        assert measured(one, two, DEFAULT) == measured(two, one, DEFAULT)
    assert measured(one, one.copy(), DEFAULT).unequal == 0


def test_the_errors_of_parts_joined_are_those_of_the_whole() -> None:
    first = np.arange(8, dtype=np.float32)
    second = first.copy()
    second[1], second[6], second[7] = np.nan, 6.5, 9
    parts = [measured(first[at : at + 3], second[at : at + 3], EXACT) for at in range(0, 8, 3)]
    whole = measured(first, second, EXACT)
    assert replace(joined(parts), scale=whole.scale) == whole
    assert joined([]) == Errors(0)
