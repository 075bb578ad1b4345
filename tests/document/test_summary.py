"""Chips, summaries and units."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.plain_text import plain

from tfdbg_cli.document.definitions import Definitions
from tfdbg_cli.document.summary import chip, nonfinite_style, number_span, summary_data, summary_lines
from tfdbg_cli.document.text import Span, Style
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.statistics import Summary, summarize
from tfdbg_cli.model.values import Lack, NoValue


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([[-2, 2], [np.nan, np.inf]], np.float32), "float32[2,2] n=4 x∈[-2, 2] μ=0 σ=2 NaN×1 +inf×1"),
        (np.zeros((3, 3)), "float64[3,3] n=9 all x=0"),
        (np.float32(0.5), "float32 x=0.5"),
        (np.array([np.nan]), "float64[1] n=1 NaN×1"),
        (np.array([], np.int32), "int32[0] n=0"),
        (np.array([1j, 2]), "complex128[2] n=2 |x|∈[1, 2] μ=1.5 σ=0.5"),
        (np.array([-np.inf, 1], ml_dtypes.bfloat16), "bfloat16[2] n=2 x=1 -inf×1"),
        (np.array([True, False]), "bool[2] n=2 x∈[0, 1] μ=0.5 σ=0.5"),
        (np.array([b"a"], object), "string[1] n=1 'a'"),
        (np.array([b"one", b"two"] * 50, object), "string[100] n=100 'one', 'two', 'one', 'two', 'one', 'two', …"),
        (np.array(b"x" * 200, object), "string '" + "x" * 38 + "…"),
        (np.array([], object), "string[0] n=0"),
    ],
)
def test_chips(value: np.ndarray, text: str) -> None:
    value = np.asarray(value)
    assert chip(value, name_of(value.dtype)).text == text


def test_a_chip_of_nothing_says_why() -> None:
    assert chip(NoValue(Lack.DAMAGED, "The file is cut off."), "float32").text == "float32 damaged"


def test_nan_is_styled_and_said() -> None:
    (span,) = (s for s in chip(np.array([np.nan, 1]), "float64").spans if s.style is Style.NAN)
    assert span.text == "NaN×1"


def test_zero_counts_are_hidden() -> None:
    lines = summary_lines(summarize(np.array([1.0, np.nan, -np.inf])))
    assert lines[0].text.split() == ["nan", "-inf", "+", "total"] and lines[1].text.split() == ["1", "1", "1", "3"]
    assert lines[-2].text.split() == ["min", "max", "mean", "std"] and lines[-1].text.split() == ["1", "1", "1", "0"]


def test_columns_line_up() -> None:
    heads, values = summary_lines(summarize(np.arange(100000) - 5))[:2]
    assert len(heads.text) == len(values.text)


def test_nothing_finite_is_said() -> None:
    assert summary_lines(summarize(np.array([np.nan])))[-1].text == "No finite element."
    assert "no numbers" in summary_lines(summarize(np.array([b"a"], object)))[0].text
    assert "0 elements" in summary_lines(summarize(np.array([])))[0].text


def test_summary_data() -> None:
    data = summary_data(summarize(np.array([1.0, np.nan])))
    assert data is not None and data["nan"] == 1 and data["size"] == 2 and data["mean"] == 1
    assert summary_data(None) is None


@pytest.mark.parametrize("width", [24, 40, 80, None])
def test_definitions_lose_no_word_and_fit(width: int | None) -> None:
    pairs = ((Span("-f, --filter"), Span("only tensors that pass")), (Span("a" * 30), Span("a long term")))
    block = Definitions(pairs, indent="  ")
    shown = plain(block.lines(width))
    for word in ("only", "tensors", "that", "pass", "long", "term"):
        assert word in shown
    if width is not None:
        assert max(map(len, shown.split("\n"))) <= max(width, 32)


def test_numbers_that_are_not_finite_are_told_apart():
    spans = [number_span(value) for value in (1.25, np.nan, -np.inf)]
    assert spans == [Span("1.25", Style.NUMBER), Span("nan", Style.NAN), Span("-inf", Style.INF)]
    counts = Summary(3, neg_inf=1), Summary(3, nan=1, pos_inf=1), Summary(3, spoiled=True)
    assert list(map(nonfinite_style, counts)) == [Style.INF, Style.NAN, Style.NAN]
