"""What is bad in a run beyond what is intended or ignored, the origin first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support.made_run import NAN, made_run, op
from support.masked_run import BAD_LOG, masked_run

from tfdbg_cli.analysis.origin.blamed import blamed_in
from tfdbg_cli.model.ignored import IgnoredBy, IgnoredPlace
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run


def _blamed(run: Run) -> list[str]:
    return [run.tensors[row].node for row in blamed_in(run)]


def test_nothing_is_where_all_that_is_infinite_is_a_mask() -> None:
    assert _blamed(masked_run()) == []


def test_a_fault_beside_a_mask_is_and_what_it_spoiled() -> None:
    assert _blamed(masked_run(BAD_LOG, op("sum", "Sum", "log", value=np.float32(NAN)))) == ["log", "sum"]


def test_the_origin_stands_first_whatever_ran_before_it() -> None:
    """A blind test: what is harmless and came first was taken for what the run is to blame for."""
    run = made_run(
        op("w", "Placeholder", value=[1.0, -1.0]), op("root", "Sqrt", "w", value=[1.0, NAN]),
        op("x", "Placeholder", value=[1.0, -1.0]),
        op("log", "Log", "x", value=[0.0, NAN]), op("y", "Identity", "log", value=[0.0, NAN]),
    )  # fmt: skip
    assert _blamed(run) == ["log", "root", "y"]


def test_what_was_ignored_when_the_run_was_saved_is_not() -> None:
    run = masked_run(BAD_LOG)
    place = IgnoredPlace(
        1, run.call.place, TensorName("log", 0), "Log", "NaN", "", False, ("log",), by=IgnoredBy.NODE, named=("log",)
    )
    assert _blamed(replace(run, ignored=(place,))) == []


def test_a_bad_feed_that_no_tensor_shows_leaves_the_order_as_it_is() -> None:
    bad = np.array([1.0, NAN], np.float32)
    run = made_run(op("x", "Placeholder"), op("twice", "Mul", "x", value=bad), feeds={"x:0": bad})
    assert _blamed(run) == ["twice"]
