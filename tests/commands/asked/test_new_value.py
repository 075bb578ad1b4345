"""The value that `set` and `inject_value` make of what was typed."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.prompt import Prompt
from support.sample_what_if import changeable

from tfdbg_cli.commands.asked.new_value import as_type, evaluated, with_part
from tfdbg_cli.errors import TfdbgError

_WORDS = np.array([b"the", b"cat", b"sat"], dtype=object)


@pytest.mark.parametrize("slicing", ["[1]", "[-2]", "[1, ...]", "[1:2]", "[[1]]", "[[False, True, False]]"])
@pytest.mark.parametrize("typed", [b"q", "q"])
def test_an_element_of_a_string_tensor_is_a_string(slicing: str, typed: str | bytes) -> None:
    """A blind test: it became an array that holds the string, of which TensorFlow makes no tensor."""
    whole = with_part(_WORDS, slicing, as_type(typed, _WORDS.dtype, "words:0"), "words:0")
    assert [type(one) for one in whole] == [bytes] * 3
    assert whole.tolist() == [b"the", b"q", b"sat"] and _WORDS[1] == b"cat"


def test_a_string_is_given_to_all_of_a_tensor_and_to_one_of_no_axis() -> None:
    given = as_type("q", _WORDS.dtype, "words:0")
    assert with_part(_WORDS, "", given, "words:0").tolist() == [b"q"] * 3
    assert with_part(np.array(b"cat", dtype=object), "", given, "word:0")[()] == b"q"


def test_strings_keep_the_zeros_at_their_ends() -> None:
    given = as_type([b"a\x00", "b\x00\x00"], _WORDS.dtype, "words:0")
    assert given.tolist() == [b"a\x00", b"b\x00\x00"]


def test_an_element_of_numbers_is_a_number() -> None:
    old = np.zeros((2, 2), np.float32)
    whole = with_part(old, "[0, 1]", as_type(5, old.dtype, "x:0"), "x:0")
    assert whole.tolist() == [[0, 5], [0, 0]] and whole.dtype == np.float32


def test_a_text_whose_quotes_the_prompt_took_is_told_how_it_is_written() -> None:
    context = Prompt(changeable()).context
    assert evaluated(context, "'xy'", _WORDS.dtype, "words:0")[()] == b"xy"
    with pytest.raises(TfdbgError, match="There is no name 'xy'") as caught:
        evaluated(context, "xy", _WORDS.dtype, "words:0")
    assert """a text stands in quotes within quotes, as "'xy'".""" in caught.value.hint
    with pytest.raises(TfdbgError) as caught:
        evaluated(context, "xy", np.dtype(np.float32), "x:0")
    assert "quotes" not in caught.value.hint


@pytest.mark.parametrize(
    ("typed", "dtype"),
    [
        (2**63, np.int64), (np.uint64(2**63), np.int64), (2**70, np.int64), (-1, np.uint64), (300, np.uint8),
        (20, ml_dtypes.int4), (-1, ml_dtypes.uint4), (0.5, np.int64), (np.nan, np.int64), (2, np.bool_),
        (1e6, np.float16), (2**128, np.float32), (1e40, ml_dtypes.bfloat16), (1000, ml_dtypes.float8_e4m3fn),
        (np.inf, ml_dtypes.float8_e4m3fn), ([1, 1e300 + 1j], np.complex64),
    ],
)  # fmt: skip
def test_numbers_that_the_type_cannot_hold_are_refused(typed: object, dtype: type) -> None:
    """A blind test: 2**63 became the least int64, -1 the largest uint64, and 1000 a NaN of 8 bits."""
    with pytest.raises(TfdbgError, match="cannot hold all of these values"):
        as_type(typed, np.dtype(dtype), "x:0")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("typed", "dtype"),
    [
        (-(2**63), np.int64), (2**64 - 1, np.uint64), (-8, ml_dtypes.int4), (True, np.bool_), (2**53 + 1, np.float64),
        (2**70, np.float32), (np.inf, np.float16), (448, ml_dtypes.float8_e4m3fn), (np.nan, ml_dtypes.float8_e4m3fn),
        (1, np.complex64),
    ],
)  # fmt: skip
def test_numbers_at_the_ends_of_a_type_are_taken(typed: float, dtype: type) -> None:
    given = as_type(typed, np.dtype(dtype), "x:0")
    assert given.dtype == dtype
    np.testing.assert_equal(given.item(), np.dtype(dtype).type(typed).item())
