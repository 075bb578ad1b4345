"""Places to stop at, from words."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.analysis.places import PlaceTest, place_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.pausing import Place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("log", Place(op="log")),
        ("Log when min < 0", Place(op="Log", condition="min < 0")),
        ("Log if min < 0", Place(op="Log", condition="min < 0")),
        ("when nan", Place(op="*", condition="nan")),
        ("train.py:12", Place(file="train.py", line=12)),
        ("src/train.py:12 when max > 1", Place(file="src/train.py", line=12, condition="max > 1")),
        ("12", Place(file="here.py", line=12)),
        ("line 12", Place(file="here.py", line=12)),
        ("train.py 12", Place(file="train.py", line=12)),
        ("a b/train.py, line 12 when nan", Place(file="a b/train.py", line=12, condition="nan")),
        ("dense/MatMul_3", Place(op="dense/MatMul_3")),
    ],
)
def test_words_are_understood(text, place) -> None:
    assert place_of(text, "here.py") == place


@pytest.mark.parametrize(
    "text", ["", "  ", "12", "log when nonsense", "x.py:0", "log when", "when", "x.py:3 if", "log or exp"]
)
def test_what_means_no_place_is_refused(text) -> None:
    with pytest.raises(TfdbgError):
        place_of(text)


@pytest.mark.parametrize(
    ("op", "fits"),
    [
        ("log", True), ("Log", True), ("lo*", True), ("model/dense/Log_3", True), ("dense", True),
        ("model/dense", True), ("model/*", True), ("dense/", True),
        ("log1p", False), ("dens", False), ("Log_4", False),
    ],
)  # fmt: skip
def test_an_op_by_its_type_its_name_or_what_is_around_it(op, fits) -> None:
    assert PlaceTest(Place(op=op)).fits_op("Log", "model/dense/Log_3") is fits


def test_a_line_by_the_end_of_its_path() -> None:
    test = PlaceTest(place_of("src/train.py:12"))
    assert test.fits_line("/home/me/src/train.py", 12)
    assert not test.fits_line("/home/me/src/train.py", 13)
    assert not test.fits_line("/home/me/mysrc/train.py", 12)
    assert PlaceTest(place_of("src/*ain.py:12")).fits_line("/home/me/src/train.py", 12)
    assert not PlaceTest(place_of("*/src/train.py:12")).fits_line("src/train.py", 12)


def test_a_condition_is_asked_of_every_output() -> None:
    test = PlaceTest(place_of("* when min < 0"))
    assert test.holds([np.ones(2), -np.ones(2)], list)
    assert not test.holds([np.ones(2)], list)
    assert PlaceTest(place_of("*")).holds([], list)
