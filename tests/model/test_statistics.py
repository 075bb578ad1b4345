import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tfdbg_cli.model import statistics
from tfdbg_cli.model.statistics import (
    Summary,
    any_nonfinite,
    merged,
    nonfinite_mask,
    summaries_of,
    summarize,
    summarize_in_steps,
)

FLOATS = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_category_is_counted(dtype):
    array = np.array([np.nan, -np.inf, np.inf, -1, 0, -0.0, 2, 4], np.float64).astype(dtype)
    found = summarize(array)
    assert (found.nan, found.neg_inf, found.pos_inf, found.neg, found.zero, found.pos) == (1, 1, 1, 1, 2, 2)
    assert (found.min, found.max, found.mean) == (-1, 4, 1)
    assert found.nonfinite == 3


def test_a_complex_summary():
    """TensorFlow's tfdbg: the summary of a complex tensor raised TypeError."""
    found = summarize(np.array([3 + 4j, 0, complex(np.nan, np.inf), complex(1, -np.inf)], np.complex64))
    assert found.of_magnitude
    assert (found.nan, found.pos_inf, found.neg_inf, found.zero, found.pos) == (1, 1, 0, 1, 1)
    assert (found.min, found.max) == (0, 5)


def test_booleans_count_false_as_zero_and_true_as_positive():
    found = summarize(np.array([True, False, True]))
    assert (found.zero, found.pos) == (1, 2)


def test_texts_and_empty_arrays_have_only_a_size():
    assert summarize(np.array([b"a", b"b"], object)).size == 2
    empty = summarize(np.zeros((0, 3), np.float32))
    assert (empty.size, empty.min, empty.mean, empty.std) == (0, None, None, None)


def test_moments_of_a_float16_array_do_not_overflow():
    found = summarize(np.full(100_000, 60_000, np.float16))
    assert found.mean == 59_999 or found.mean == pytest.approx(60_000, rel=1e-3)
    assert found.std == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("size", [1e299, 1.7e308, 1e-180, 1e-310])
def test_moments_of_numbers_whose_squares_float64_does_not_hold(monkeypatch: pytest.MonkeyPatch, size: float) -> None:
    array = np.concatenate([np.linspace(-1, 1, 48), [0.0, 1.0, 1.0]]) * size
    wide = array.astype(np.longdouble)
    parts = [array[:20], array[20:]]
    (steps,) = [summary for summary in summarize_in_steps(array) if summary is not None]
    many = [merged(summaries_of(array, [20, 31])), merged([summarize(part) for part in parts]), steps]
    monkeypatch.setattr(statistics, "_CHUNK", 7)
    for found in [summarize(array), summarize(array.astype(np.complex128)), *many]:
        expected = np.abs(wide) if found.of_magnitude else wide
        assert found.mean == pytest.approx(float(expected.mean()), rel=1e-9)
        assert found.std == pytest.approx(float(expected.std()), rel=1e-9)


def test_moments_at_the_ends_of_float64_do_not_round_to_infinity() -> None:
    most = float(np.finfo(np.float64).max)
    for array in (np.full(3, most), np.array([most, -most]), np.array([most, most, -most])):
        found = summarize(array)
        assert found.mean is not None and found.std is not None
        assert np.isfinite([found.mean, found.std]).all() and abs(found.mean) <= most


def test_int64_extremes_survive():
    found = summarize(np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max]))
    assert (found.neg, found.pos) == (1, 1)


@pytest.mark.parametrize(
    ("dtype", "least", "most"),
    [("int64", -(2**62) - 1, 2**53 + 1), ("uint64", 2**53 + 1, 2**64 - 1), ("int8", -3, 7)],
)
def test_extremes_of_integers_are_exact(dtype: str, least: int, most: int) -> None:
    found = summarize(np.array([most, least], dtype))
    assert (found.min, found.max) == (least, most) and type(found.min) is type(found.max) is int
    (*_, found) = summarize_in_steps(np.tile(np.array([most, least], dtype), 1 << 17))
    assert found is not None and (found.min, found.max) == (least, most)
    small = summarize(np.array([-8, 7], ml_dtypes.int4))
    assert (small.min, small.max, type(small.min)) == (-8, 7, int)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_the_spread_of_integers_that_float64_does_not_tell_apart(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: σ was 0 of integers 9 apart."""
    apart = np.arange(300) % 10
    array = (2**63 - 10 + apart.astype(np.uint64)).astype(dtype)
    monkeypatch.setattr(statistics, "_CHUNK", 64)
    monkeypatch.setattr(statistics, "_STEP", 100)
    for found in (statistics.summarize(array), list(statistics.summarize_in_steps(array))[-1]):
        assert (found.min, found.max, found.size) == (2**63 - 10, 2**63 - 1, 300)
        assert found.std == pytest.approx(apart.std())
        assert found.mean == 2.0**63
    assert statistics.summarize(np.array([-(2**63), 2**63 - 1])).std == 2.0**63


@given(hnp.arrays(np.float64, st.integers(0, 300), elements=st.floats(-1e6, 1e6)))
def test_moments_do_not_depend_on_how_the_array_is_cut(array):
    whole = summarize(array)
    kept, statistics._CHUNK = statistics._CHUNK, 7
    try:
        cut = summarize(array)
    finally:
        statistics._CHUNK = kept
    assert (cut.neg, cut.zero, cut.pos, cut.min, cut.max) == (whole.neg, whole.zero, whole.pos, whole.min, whole.max)
    if array.size:
        assert cut.mean == pytest.approx(array.mean(), rel=1e-9, abs=1e-6)
        assert cut.std == pytest.approx(array.std(), rel=1e-6, abs=1e-6)


@given(hnp.arrays(st.sampled_from([np.dtype(d) for d in (np.float16, np.float32, np.complex64)]), st.integers(0, 40)))
def test_any_nonfinite_agrees_with_the_mask_and_the_counts(array):
    assert any_nonfinite(array) == bool(nonfinite_mask(array).any()) == (summarize(array).nonfinite > 0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_nan_is_seen_in_every_float_type(dtype):
    """TensorFlow's tfdbg: bfloat16 and float8 NaN unseen."""
    assert any_nonfinite(np.array([0, np.nan], np.float64).astype(dtype))
    assert not any_nonfinite(np.array([0, 1], np.float64).astype(dtype))


def test_the_summary_leaves_the_array_and_numpys_error_state_alone():
    array = np.array([1.0, np.nan], np.float32)
    with np.errstate(all="raise"):
        before = np.geterr()
        summarize(array)
        assert np.geterr() == before
    assert array[0] == 1


@pytest.mark.parametrize("layout", ["rows", "columns", "every other", "one"])
def test_a_bad_element_is_found_in_whichever_part_it_lies(monkeypatch, layout):
    monkeypatch.setattr(statistics, "_CHUNK", 3)
    for place in range(8):
        array = {
            "rows": lambda: np.zeros((2, 4), np.float32),
            "columns": lambda: np.zeros((2, 4), np.float32, order="F"),
            "every other": lambda: np.zeros((2, 8), np.float32)[:, ::2],
            "one": lambda: np.zeros((), np.float32),
        }[layout]()
        assert not any_nonfinite(array)
        array[np.unravel_index(place % array.size, array.shape)] = np.inf
        assert any_nonfinite(array)


def test_what_is_known_to_be_finite_alone_tells_no_number():
    found = Summary.finite()
    assert found.any_nonfinite is False and (found.nan, found.neg_inf, found.pos_inf) == (0, 0, 0)
    assert all(found.told(name) is None for name in ("size", "neg", "zero", "pos", "min", "max", "mean", "std"))
