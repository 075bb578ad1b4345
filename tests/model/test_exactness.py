from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as of_numpy

from tfdbg_cli.model.exactness import _BLOCK, _SLICE, Exactness, ExecutionWay, Parting, parted, same_bits
from tfdbg_cli.model.values import Lack, NoValue


def one_parting(one: Any, two: Any) -> Parting:
    (found,) = parted(["loss"], [np.asarray(one)], [np.asarray(two)])
    return found


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("value", [1.0, -1.0, 0.0, 3.0e-5])
def test_neighbours_are_one_ulp_apart(dtype: Any, value: float) -> None:
    one = np.asarray([value, 2.0], dtype)
    two = one.copy()
    two[0] = np.nextafter(one[0], np.asarray(9, dtype))
    assert one_parting(one, two) == Parting("loss", 1, float(two[0]) - float(one[0]), 1)


@settings(max_examples=50)
@given(of_numpy.arrays(np.float32, 5, elements=st.floats(-100, 100, width=32)), st.integers(1, 300))
def test_ulps_count_steps(start: Any, steps: int) -> None:
    moved = start.copy()
    for _ in range(steps):
        moved = np.nextafter(moved, np.float32(np.inf))
    # 0.0 and -0.0 are other bits at the same place.
    assert one_parting(start, moved).max_ulp in {steps, steps - 1}


def test_zeros_of_both_signs_are_other_bits() -> None:
    assert one_parting(0.0, -0.0) == Parting("loss", 1, 0.0, 0)


def test_nan_is_left_out_of_the_figures_and_counted() -> None:
    found = one_parting(np.asarray([math.nan, 1.0, 2.0], "f"), np.asarray([1.0, 1.0, 4.0], "f"))
    assert (found.elements, found.max_abs) == (2, 2.0)


def test_what_is_the_same_does_not_part() -> None:
    gone = NoValue(Lack.GONE, "gone")
    values = [np.asarray([math.nan, 1.0]), np.asarray([b"a"], object), gone, np.asarray(3)]
    assert parted("abcd", values, [*values[:2], np.asarray(1.0), gone]) == ()
    assert same_bits(values[0], values[0].copy())


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), np.zeros(2, "f")),
        (np.array([b"a"], object), np.array([b"b"], object)),
    ],
)
def test_other_shapes_dtypes_and_strings_have_no_distance(one: Any, two: Any) -> None:
    assert one_parting(one, two).max_ulp is None


def test_integers_and_complex_numbers_differ_without_a_distance() -> None:
    assert one_parting(np.array([1, 2]), np.array([1, 3])) == Parting("loss", 1)
    assert one_parting(np.array([1j, 2]), np.array([1j, 3])) == Parting("loss", 1)


@pytest.mark.parametrize(
    ("one", "two", "told"),
    [
        (np.float32(1.0), np.nextafter(np.float32(1), np.float32(2)), "loss (up to 1 ULP)"),
        (np.float32(0.0), np.float32(1.0), "loss (0.0 and 1.0)"),
        (np.array([1.0, 3.0, np.nan]), np.array([1.0, -7.5, np.nan]), "loss (3.0 and -7.5)"),
        (np.float32(0.0), np.float32(-0.0), "loss (zeros of the other sign)"),
        (np.uint32(0x7FC00000), np.uint32(0xFFC00001), "loss (NaN of other bits)"),
        (np.float32(np.nan), np.float32(1.0), "loss (NaN in one of the two)"),
        (np.array([1, 2]), np.array([1, 3]), "loss"),
    ],
)
def test_a_parting_says_what_can_be_pictured(one: Any, two: Any, told: str) -> None:
    values = [np.asarray(value) for value in (one, two)]
    if values[0].dtype == np.uint32:
        values = [value.view(np.float32) for value in values]
    assert str(one_parting(*values)) == told


def test_sentences() -> None:
    same = Exactness(ExecutionWay.UNCHANGED, 3)
    assert same.exact
    assert same.sentence == (
        "The program's own call ran unchanged; the values are of the same run made again on copies. "
        "3 outputs and variables are the same to the last bit."
    )
    other = Exactness(ExecutionWay.PROVEN, 4, (Parting("loss:0", 1, 0.5, 7),))
    assert not other.exact
    assert other.program_exact
    assert (
        "1 of 4 outputs and variables are not the program's to the last bit: loss:0 (up to 7 ULP)." in other.sentence
    )
    stray = Exactness(ExecutionWay.TRIED, strays=(Parting("loss:0", 1, 0.5, 7),))
    assert not stray.program_exact
    assert stray.sentence.startswith(
        "Not exact: under this watch the program gets other last digits in loss:0 (up to"
    )
    doubted = Exactness(ExecutionWay.IN_PLACE, doubt="Last digits may differ: it draws from a queue.")
    assert not doubted.exact
    assert doubted.sentence == "Last digits may differ: it draws from a queue."


def test_nan_of_other_bits_are_told_from_other_numbers() -> None:
    first = np.array([1.0, np.nan], np.float32)
    nans = parted(["w"], [first], [np.array([1.0, -np.nan], np.float32)])
    assert Exactness(ExecutionWay.PROVEN, 1, nans).numbers_exact
    assert not Exactness(ExecutionWay.PROVEN, 1, nans).exact
    assert not Exactness(ExecutionWay.PROVEN, 2, (*nans, *parted(["v"], [first], [first + 1]))).numbers_exact


def test_under_a_doubt_what_is_the_same_is_that_of_the_run_made_again() -> None:
    doubted = Exactness(ExecutionWay.IN_PLACE, 2, doubt="It draws from a queue.")
    assert doubted.sentence == (
        "It draws from a queue. In the run made again for the screen 2 outputs and variables are the same to the "
        "last bit."
    )


def test_the_largest_difference_is_exact_beside_elements_that_are_equal_or_round_to_it() -> None:
    one = np.array([1e8, 5.0, 1e8, -3.0], np.float32)
    two = np.array([1.0, 5.0, 2.0, -3.0], np.float32)  # the differences, 99999999 and 99999998, are one float32
    (found,) = parted(["x"], [one], [two])
    assert (found.elements, found.max_abs) == (2, 99999999.0)
    steps = abs(int(one[:1].view(np.int32)[0]) - int(two[:1].view(np.int32)[0]))
    assert found.told == " and ".join(map(str, (one[0], two[0])))
    assert found.max_ulp == steps


def told_element_by_element(one: Any, two: Any) -> tuple[int, float, int]:
    """How many elements differ, by how much at most, and how many numbers lie between, all by exact integers."""
    places = [(bits if bits < 1 << 31 else (1 << 31) - bits) for bits in map(int, [*bits_of(one), *bits_of(two)])]
    pairs = list(zip(places[: one.size], places[one.size :], strict=True))
    gap = max(abs(a - b) for a, b in zip(one.ravel().tolist(), two.ravel().tolist(), strict=True))
    return int(np.count_nonzero(bits_of(one) != bits_of(two))), gap, max(abs(a - b) for a, b in pairs)


def bits_of(values: Any) -> Any:
    return values.ravel().view(np.uint32)


@pytest.mark.parametrize("count", [1, 3, 40_000])
def test_arrays_measured_together_or_slice_by_slice_get_the_figures_of_each(count: int) -> None:
    chance = np.random.default_rng(count)
    first = [
        chance.normal(size=shape).astype(np.float32) for shape in [(count,), (), (2, count), (1,), (5,), (count,)]
    ]
    again = [np.nextafter(one, np.float32(sign * 9)) for sign, one in zip([1, -1, 1, -1, 1, 1], first, strict=True)]
    again[2][1, -1] += np.float32(1e-4)  # farther than the others, in the last slice
    again[4][3] = -first[4][3]  # no rounding of it
    first[5], again[5] = first[5] * np.float32(1e30), again[5] * np.float32(1e30)
    again[5][: count // 2] = first[5][: count // 2]
    names = list("abcdef")
    found = parted(names, first, again)
    assert [parting.name for parting in found] == names
    for parting, one, two in zip(found, first, again, strict=True):
        assert (parting.elements, parting.max_abs, parting.max_ulp) == told_element_by_element(one, two), parting.name
    alone = [one_of for trio in zip(names, first, again, strict=True) for one_of in parted(*([one] for one in trio))]
    assert alone == list(found)


@pytest.mark.parametrize("count", [1, 40_000])
def test_an_infinity_beside_the_largest_number_is_no_difference_that_is_a_number(count: int) -> None:
    largest = np.full(count, np.finfo(np.float32).max)
    one, two = largest.copy(), largest.copy()
    two[-1] = np.inf
    found = one_parting(one, two)
    assert (found.elements, found.max_abs, found.max_ulp) == (1, 0.0, 1)


@pytest.mark.parametrize("at", [0, 20_000, 39_999])
def test_one_other_bit_is_seen_wherever_it_is(at: int) -> None:
    one = np.zeros(40_000, np.float32)
    two = one.copy()
    two[at] = -0.0
    assert not same_bits(one, two)
    assert one_parting(one, two).elements == 1


@pytest.mark.parametrize("size", [_SLICE - 1, _SLICE, _SLICE + 1, _SLICE + _BLOCK, _SLICE + _BLOCK + 3])
def test_the_same_bits_are_looked_for_to_the_end_of_a_large_array(size: int) -> None:
    one, two = np.zeros(size), np.zeros(size)
    assert same_bits(one, two)
    for at in {0, size // 2, min(_SLICE, size - 1), size - 1}:
        two[at] = -0.0
        assert not same_bits(one, two)
        two[at] = 0.0
