"""Jumps in an array give NumPy's answer, whatever the array looks like in memory."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.array import chunks
from tfdbg_cli.tui.array.condition import condition, nonfinite
from tfdbg_cli.tui.array.places import next_extreme, next_place

_NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -2.5, 3.0, np.nan, np.inf, -np.inf])


def _answer(steps):
    shares = []
    while True:
        try:
            shares.append(next(steps))
        except StopIteration as over:
            assert shares == sorted(shares)
            assert all(0 <= share <= 1 for share in shares)
            return over.value


@st.composite
def _arrays(draw):
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    size = int(np.prod(shape))
    array = np.array(draw(st.lists(_NUMBERS, min_size=size, max_size=size)), np.float32).reshape(shape)
    return array.T if draw(st.booleans()) else array


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch):
    monkeypatch.setattr(chunks, "STEP", 7)


@settings(deadline=None)
@given(_arrays(), st.data(), st.booleans())
def test_the_next_nonfinite_element_is_that_of_numpy(array, data, ahead) -> None:
    start = data.draw(st.integers(0, array.size - 1))
    places = np.flatnonzero(~np.isfinite(array.reshape(-1)))
    found = _answer(next_place(array, start, nonfinite, ahead=ahead))
    if not places.size:
        assert found is None
        return
    beyond = places[places > start] if ahead else places[places < start]
    expected = (beyond if beyond.size else places)[0 if ahead else -1]
    assert found == expected


@settings(deadline=None)
@given(_arrays(), st.data(), st.booleans())
def test_the_next_maximum_is_that_of_numpy(array, data, highest) -> None:
    start = data.draw(st.integers(0, array.size - 1))
    flat = array.reshape(-1)
    finite = flat[np.isfinite(flat)]
    found = _answer(next_extreme(array, start, highest=highest))
    if not finite.size:
        assert found is None
        return
    places = np.flatnonzero(flat == (finite.max() if highest else finite.min()))
    assert found == (places[places > start][0] if (places > start).any() else places[0])


def test_an_element_that_is_repeated_is_looked_at_once() -> None:
    many = np.broadcast_to(np.float32(np.nan), (10**5, 10**5))
    assert _answer(next_place(many, 41, nonfinite)) == 42
    assert _answer(next_extreme(many, 41, highest=True)) is None
    ones = np.broadcast_to(np.float32(1), (10**5, 10**5))
    assert _answer(next_place(ones, 41, nonfinite)) is None
    assert _answer(next_extreme(ones, ones.size - 1, highest=True)) == 0


@pytest.mark.parametrize(
    ("text", "array", "found"),
    [
        ("nan", np.array([1, np.nan, np.inf]), [1]),
        ("inf", np.array([1, np.inf, -np.inf, np.nan]), [1, 2]),
        ("+inf", np.array([1, np.inf, -np.inf]), [1]),
        ("-inf", np.array([1, np.inf, -np.inf]), [2]),
        (">1e4", np.array([1e4, 1e5, np.nan, np.inf]), [1, 3]),
        (" <= -2 ", np.array([-2, -1, -3]), [0, 2]),
        ("0.1", np.array([0.1, 0.2], np.float32), [0]),
        ("!=0", np.array([0, -0.0, 3, np.nan]), [2, 3]),
        ("=9007199254740993", np.array([9007199254740993, 9007199254740992]), [0]),
        (">300", np.array([1, 255], np.uint8), []),
        (">1e10", np.array([1, 65504], np.float16), []),
        ("1", np.array([True, False]), [0]),
        ("nan", np.array([1, 2]), []),
        ("nan", np.array([1, complex(0, np.nan)]), [1]),
        ("-inf", np.array([complex(1, -np.inf), 1]), [0]),
        ("nan", np.array([1, np.nan], ml_dtypes.bfloat16), [1]),
        (">1", np.array([1, 2], ml_dtypes.float8_e4m3fn), [1]),
    ],
)
def test_conditions(text, array, found) -> None:
    assert np.flatnonzero(condition(text, array).test(array)).tolist() == found


@pytest.mark.parametrize("text", ["loss", ">", ">>1", "1 2", "--1", ">nan"])
def test_what_is_no_condition_is_refused_with_examples(text) -> None:
    with pytest.raises(TfdbgError) as caught:
        condition(text, np.zeros(2))
    assert ">1e4" in caught.value.hint


def test_texts_are_not_searched_and_complex_numbers_have_no_order() -> None:
    with pytest.raises(TfdbgError, match="looks for numbers"):
        condition("nan", np.array(["a"], object))
    with pytest.raises(TfdbgError, match="no order"):
        condition(">1", np.array([1j]))
