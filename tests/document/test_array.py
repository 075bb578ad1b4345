"""Arrays as lines: the same text as NumPy prints, made lazily, each line knowing its first element."""

from __future__ import annotations

import sys
from typing import Any

import hypothesis.extra.numpy as hnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdbg_cli.document import array as array_document
from tfdbg_cli.document.array import ArrayBlock, ArrayLines, ArrayStyle, nested
from tfdbg_cli.document.text import Span, Style

DTYPES = [np.float16, np.float32, np.float64, np.int8, np.int32, np.uint64, np.bool_, np.complex64]
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=9))
)


def text(array: object, width: int | None = 80, **style: object) -> str:
    block = ArrayBlock(np.asarray(array), ArrayStyle(**style))  # type: ignore[arg-type]
    return "\n".join(line.text for line in block.lines(width))


@settings(deadline=None, max_examples=150)
@given(ARRAYS, st.integers(10, 120), st.sampled_from([5, 50, sys.maxsize]))
def test_the_text_is_that_of_numpy(array: np.ndarray, width: int, threshold: int) -> None:
    with np.printoptions(threshold=threshold):
        expected = np.array2string(array, max_line_width=width)
    # NumPy shortens whatever the number of axes; so do we up to the size where few elements are left to drop.
    edges = ArrayStyle(threshold=threshold).edges(array.shape)
    if edges not in (None, 3):
        return
    shown = text(array, linewidth=width, threshold=threshold)
    assert [row.rstrip() for row in shown.split("\n")] == expected.split("\n")


@settings(deadline=None, max_examples=60)
@given(ARRAYS, st.integers(20, 100))
def test_every_line_knows_its_first_element(array: np.ndarray, width: int) -> None:
    lines = ArrayBlock(array, ArrayStyle(threshold=20, linewidth=width)).lines(None)
    starts = {line.element: line for line in lines if line.element is not None}
    assert list(starts) == sorted(starts) and next(iter(starts)) == (0,) * array.ndim
    for element, line in starts.items():
        words = line.text.replace("[", " ").split()
        word = next(word for word in words if word != "...").rstrip("]")
        if array.dtype == np.int32:
            assert int(word) == array[element]


@settings(deadline=None, max_examples=60)
@given(ARRAYS, st.integers(20, 100))
def test_the_lines_of_elements_are_told_without_making_them(array: np.ndarray, width: int) -> None:
    lines = ArrayBlock(array, ArrayStyle(threshold=None, linewidth=width)).lines(None)
    assert isinstance(lines, ArrayLines) and lines.shows_all
    starts = {at: np.ravel_multi_index(one.element, array.shape) for at, one in enumerate(lines) if one.element}
    below = [min((place for at, place in starts.items() if at >= number), default=array.size) for number in range(99)]
    assert [lines.first_element(number) for number in range(99)] == below
    expected = [max(at for at, place in starts.items() if place <= element) for element in range(array.size)]
    assert lines.lines_of(np.arange(array.size)).tolist() == expected


def test_of_an_array_of_which_some_is_left_out_that_is_not_told() -> None:
    lines = ArrayBlock(np.arange(100), ArrayStyle(threshold=20)).lines(80)
    assert isinstance(lines, ArrayLines) and not lines.shows_all


def test_a_huge_array_opens_at_once_and_reads_only_what_is_looked_at() -> None:
    array = np.broadcast_to(np.float32(1.5), (50_000, 1000, 1000))
    small = np.arange(3_000_000, dtype=np.float64).reshape(3000, 1000)
    lines = ArrayBlock(small, ArrayStyle(threshold=None)).lines(80)
    assert len(lines) > 100_000
    assert lines[0].text.startswith("[[") and lines[-1].text.endswith("]]")
    middle = lines[len(lines) // 2]
    assert middle.element is not None
    assert float(middle.text.strip(" []").split()[0]) == small[middle.element]
    assert "..." in text(array)


def test_blocks_of_a_large_array_are_formatted_alike() -> None:
    array = np.linspace(0, 1, 40_000).reshape(-1, 10)
    array[3000, 5] = -12345.5
    array[10, 0] = np.nan
    with np.printoptions(suppress=True):
        rows = text(array, width=400, threshold=None).split("\n")
        assert rows[0] == np.array2string(array, threshold=sys.maxsize, max_line_width=400).split("\n")[0]
    assert len({len(row.rstrip("]")) for row in rows}) == 1
    points = [[i for i, char in enumerate(row) if char == "."] for row in rows]
    assert all(point == points[0] for i, point in enumerate(points) if i != 10)


def test_nan_and_infinities_are_styled() -> None:
    (line,) = ArrayBlock(np.array([1, np.nan, -np.inf, np.inf], np.float32)).lines(80)
    assert [(s.text, s.style) for s in line.spans if s.style] == [
        ("nan", Style.NAN),
        ("-inf", Style.INF),
        ("inf", Style.INF),
    ]


def test_marked_elements_are_styled_unless_they_are_not_finite() -> None:
    (line,) = ArrayBlock(np.array([1.0, 2, np.nan]), mark=lambda chunk: chunk > 1).lines(80)
    assert [s.text for s in line.spans if s.style is Style.MARK] == ["2."]


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_small_floats_print_exactly(dtype: str) -> None:
    array = np.array([[0.5, -2], [np.nan, 1]]).astype(getattr(ml_dtypes, dtype))
    assert text(array) == "[[ 0.5 -2. ]\n [ nan  1. ]]"


def test_four_bit_integers_print() -> None:
    assert text(np.array([1, -8], ml_dtypes.int4)) == "[ 1 -8]"


def test_strings_are_decoded_and_never_terminal_codes() -> None:
    shown = text(np.array([b"cat", b"\x1b[2J", "Käse".encode(), b"\xff\x00"], object))
    assert "\x1b" not in shown and "'cat'" in shown and "'Käse'" in shown and r"\xff" in shown


def test_long_strings_are_cut_unless_all_is_asked_for() -> None:
    array = np.array([b"x" * 5000], object)
    assert "5,000 bytes" in text(array) and len(text(array)) < 200
    assert len(text(array, threshold=None)) > 5000


def test_scalars_and_empty_arrays() -> None:
    assert text(np.float32(np.nan)) == "nan"
    assert text(np.array(b"a", object)) == "'a'"
    assert text(np.zeros((0, 3))) == "[]"
    assert text(True) == "True"


def test_the_print_options_of_the_program_are_respected_and_untouched() -> None:
    """TensorFlow's tfdbg: global numpy printoptions leak."""
    before = np.get_printoptions()
    with np.printoptions(precision=2, suppress=True, nanstr="NAN", linewidth=20):
        inside = np.get_printoptions()
        assert text(np.array([0.12345, np.nan, 100.0])) == "[  0.12    NAN\n 100.  ]"
        assert text(np.array([0.12345]), precision=4) == "[0.1235]"
        assert np.get_printoptions() == inside
    assert np.get_printoptions() == before


def test_the_screen_sets_the_width_unless_the_program_did() -> None:
    array = np.arange(100)
    assert max(map(len, text(array, width=200).split("\n"))) > 150
    assert max(map(len, text(array, width=None).split("\n"))) <= 75
    with np.printoptions(linewidth=40):
        assert max(map(len, text(array, width=200).split("\n"))) <= 40


def test_many_axes_keep_about_the_threshold() -> None:
    shown = text(np.zeros((9,) * 7, np.int8))
    assert shown.count("0") <= 2000 and "..." in shown


def test_nested_lists_keep_their_edges() -> None:
    value, elided = nested(np.arange(10_000), ArrayStyle())
    assert elided and value == [0, 1, 2, "...", 9997, 9998, 9999]
    value, elided = nested(np.array([[b"a", b"\xff"]], object), ArrayStyle())
    assert not elided and value == [["a", "\\xff"]]
    assert nested(np.float32(1.5)[None][0][...], ArrayStyle()) == (1.5, False)
    assert nested(np.array([0.5], ml_dtypes.bfloat16), ArrayStyle()) == ([0.5], False)
    assert nested(np.zeros((2, 0)), ArrayStyle()) == ([[], []], False)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint8, np.bool_, np.complex64])
def test_larger_arrays_look_as_numpy_prints_them(dtype: type) -> None:
    rng = np.random.default_rng(0)
    array = (rng.normal(size=(1500, 10)) * 1000).astype(dtype)
    if dtype in (np.float32, np.float64, np.complex64):
        array[700, 3], array[1400, 9] = np.nan, -np.inf
    expected = np.array2string(array, threshold=sys.maxsize, max_line_width=500).split("\n")
    assert [row.rstrip() for row in text(array, linewidth=500, threshold=None).split("\n")] == expected


def test_a_large_array_with_exponents_is_laid_out_as_by_numpy() -> None:
    array = np.random.default_rng(0).normal(size=(64, 1000)).astype(np.float32)
    for width in (60, 75, 78, 120):
        ours = ArrayBlock(array, ArrayStyle(threshold=None, linewidth=width)).lines(None)
        theirs = np.array2string(array, threshold=sys.maxsize, max_line_width=width).split("\n")
        assert [ours[i].text for i in range(0, 400, 7)] == theirs[:400:7]


def test_a_line_of_plain_numbers_is_made_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: two spans for each element, which took most of the time of `pt -a > FILE`."""
    made: list[str] = []

    def noted(text: str, *more: Any) -> Span:
        made.append(text)
        return Span(text, *more)

    monkeypatch.setattr(array_document, "Span", noted)
    lines = ArrayBlock(np.arange(30_000.0), ArrayStyle(threshold=None)).lines(80)
    shown = lines[100]
    assert len(shown.text.split()) > 5 and len(made) <= 4 + len(shown.spans)
    made.clear()
    mixed = ArrayBlock(np.array([1.0, np.nan, 2.0]), ArrayStyle(threshold=None)).lines(80)[0]
    assert [(span.text, span.style) for span in mixed.spans] == [("[ 1. ", ""), ("nan", Style.NAN), ("  2.]", "")]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.float64(0.1) + np.float64(0.2), "0.30000000000000004"),
        (np.float64(123.456789012345), "123.456789012345"),
        (np.float64(0.25), "0.25"),
        (np.float64(3), "3."),
        (np.float64(np.nan), "nan"),
        (np.float32(0.000123456789), "0.00012345679"),
        (np.float32(0.1), "0.1"),
        (np.float16(0.1), "0.1"),
        (np.complex128(complex(0.1 + 0.2, 1)), "(0.30000000000000004+1j)"),
        (np.complex64(1), "1.+0.j"),
        (ml_dtypes.bfloat16(0.1), "0.10009766"),
        (np.int64(2**62 + 1), "4611686018427387905"),
    ],
)
def test_a_lone_number_keeps_its_digits(value: Any, shown: str) -> None:
    assert text(value) == shown


def test_a_lone_number_has_as_many_digits_as_were_asked_for() -> None:
    number = np.asarray(0.1 + 0.2)
    assert text(number, precision=3) == "0.3"
    with np.printoptions(precision=4):
        assert text(number) == "0.3"
