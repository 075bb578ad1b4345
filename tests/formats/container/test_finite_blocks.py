"""Tensors asked many at once: what they are said to hold is what each holds by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import sample_run

from tfdbg_cli.analysis.watch.answers import Answered, ask, ask_in_steps
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.formats.container import finite_blocks
from tfdbg_cli.formats.container.layout import data_file
from tfdbg_cli.formats.container.store import RecordedTensors
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.model.values import Array, Lack, NoValue

DTYPES = ("float32", "float64", "float16", "bfloat16", "float8_e5m2", "complex64", "int32", "bool", "int8", "string")
FILTERS = ("has_inf_or_nan", "has_nan", "has_inf")


def _value(dtype: str, length: int, bad: float | None) -> Array:
    if dtype == "string":
        return np.array([b"text"] * length, object)
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    value = np.ones(length, kind)
    if bad is not None and length and (kind.kind in "fcV"):
        value[length // 2] = bad
    return value


def _recorded(folder: Path, values: Sequence[Array | NoValue], dtypes: Sequence[str], **options: bool) -> Run:
    tensors = [
        describe(TensorName(f"node_{i}", 0), value, device="", op_type="Add", dtype=dtype)
        for i, (value, dtype) in enumerate(zip(values, dtypes, strict=True))
    ]
    writer = RecordingWriter(folder, **options)
    writer.write(replace(sample_run.run_end().run, tensors=MemoryTensorStore(tensors, values)))
    writer.close()
    return open_path(folder).runs[0]


def _nothing(self: RecordedTensors, indices: Sequence[int]) -> Iterator[tuple[Sequence[int], float]]:
    yield from ()


def _both(run: Run, name: str) -> tuple[Answered, Answered]:
    """The verdicts with blocks, and those of each tensor by itself."""
    everything = range(len(run.tensors))
    together = ask(run, everything, BUILT_IN_FILTERS[name], {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RecordedTensors, "finite", _nothing)
        return together, ask(run, everything, BUILT_IN_FILTERS[name], {})


tensors = st.tuples(
    st.sampled_from(DTYPES), st.integers(0, 40), st.sampled_from([None, None, np.nan, np.inf, -np.inf])
)


@given(st.lists(tensors, max_size=30), st.booleans(), st.sampled_from([64, 1 << 21]))
@settings(max_examples=40, deadline=None)
def test_blocks_say_what_each_tensor_says(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[str, int, float | None]], compress: bool, most: int
) -> None:
    values = [_value(*each) for each in drawn]
    folder = tmp_path_factory.mktemp("recording") / "case"
    run = _recorded(folder, values, [dtype for dtype, _, _ in drawn], compressed=compress)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finite_blocks, "_BLOCK", most)
        for name in FILTERS:
            together, alone = _both(run, name)
            assert together == alone


def test_a_file_that_ends_early_is_left_to_who_looks_at_each(tmp_path: Path) -> None:
    run = _recorded(tmp_path / "case", [np.ones(100, np.float32)] * 50, ["float32"] * 50)
    path = data_file(tmp_path / "case", 1)
    path.write_bytes(path.read_bytes()[:-10_000])
    together, alone = _both(run, "has_inf_or_nan")
    assert together == alone
    assert together.unread == 25


def test_what_has_no_value_is_left_to_who_looks_at_each(tmp_path: Path) -> None:
    gone = NoValue(Lack.GONE, "It is gone.")
    run = _recorded(tmp_path / "case", [np.ones(3, np.float32), gone, np.ones(3, np.float32)], ["float32"] * 3)
    assert dict(_finite(run)) == {0: True, 2: True}


def test_most_tensors_are_asked_in_few_steps_that_tell_how_far_they_are(tmp_path: Path) -> None:
    run = _recorded(tmp_path / "case", [np.ones(50_000, np.float32)] * 60, ["float32"] * 60)
    shares = list(ask_in_steps(run, range(60), BUILT_IN_FILTERS["has_nan"], {}))
    assert 3 <= len(shares) < 20
    assert shares == sorted(shares) and shares[-1] == 1


def test_a_scan_that_is_left_keeps_what_it_knows(tmp_path: Path) -> None:
    run = _recorded(tmp_path / "case", [np.ones(50_000, np.float32)] * 60, ["float32"] * 60)
    known: dict[int, bool | str | None] = {}
    steps = ask_in_steps(run, range(60), BUILT_IN_FILTERS["has_nan"], known)
    next(steps)
    steps.close()
    assert 0 < len(known) < 60


def _finite(run: Run) -> Iterator[tuple[int, bool]]:
    assert isinstance(run.tensors, RecordedTensors)
    for places, _ in run.tensors.finite(range(len(run.tensors))):
        yield from ((place, True) for place in places)
