"""The variables of two places compared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.checkpoint_maker import checkpoint

from tfdbg_cli.analysis import variable_differences
from tfdbg_cli.analysis.known_variables import KnownVariables
from tfdbg_cli.analysis.variable_differences import VariableChange, VariablesCompared, compared
from tfdbg_cli.formats.opening import open_path

Arrays = Mapping[str, np.ndarray[Any, Any]]
_W = np.arange(6, dtype=np.float32)


def _known(path: Path, arrays: Arrays) -> KnownVariables:
    (run,) = open_path(checkpoint(path, arrays)).runs
    return KnownVariables(run)


def _compared(folder: Path, first: Arrays, second: Arrays) -> VariablesCompared:
    return compared(_known(folder / "first", first), _known(folder / "second", second))


def test_the_same_is_the_same(tmp_path: Path) -> None:
    texts = np.array([b"a", b""], object)
    arrays = {"w": np.array([1, np.nan, np.inf]), "t": texts, "none": np.zeros((0, 2)), "flag": np.array(True)}
    found = _compared(tmp_path, arrays, arrays)
    assert found.same and found.valued == 4 and not found.unread


def test_a_single_step_of_one_element_counts(tmp_path: Path) -> None:
    other = _W.copy()
    other[5] = np.nextafter(other[5], np.float32(9))
    (one,) = _compared(tmp_path, {"w": _W}, {"w": other}).differing
    assert one.change is VariableChange.VALUES and one.errors is not None
    assert (one.errors.size, one.errors.unequal, one.errors.max_ulp) == (6, 1, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
def test_the_sign_of_a_zero_is_a_bit(tmp_path: Path, dtype: Any) -> None:
    """A blind test: 0.0 and -0.0 were said to be the same values, by a command that compares to the last bit."""
    first, second = np.array([0, 0, 1, np.nan], dtype), np.array([0, -1, 1, np.nan], dtype)
    second[1] *= dtype(0)
    assert first[1] == second[1] and np.signbit(second[1].real)
    (one,) = _compared(tmp_path, {"w": first}, {"w": second}).differing
    assert one.change is VariableChange.VALUES and one.errors is not None
    assert (one.zeros, one.errors.unequal, one.errors.max_abs) == (1, 1, 0)
    assert not _compared(tmp_path, {"w": second}, {"w": second}).differing


def test_nan_on_one_side_is_told(tmp_path: Path) -> None:
    other = _W.copy()
    other[:2] = np.nan
    (one,) = _compared(tmp_path, {"w": _W}, {"w": other}).differing
    assert one.nan == (0, 2) and one.errors is not None and one.errors.nonfinite == 2


def test_shapes_and_dtypes(tmp_path: Path) -> None:
    found = _compared(tmp_path, {"a": _W, "b": _W, "c": _W}, {"a": _W[:5], "b": _W.astype(np.float64), "c": _W})
    assert [(one.change, one.errors is None) for one in found.differing] == [
        (VariableChange.SHAPE, True),
        (VariableChange.DTYPE, False),
    ]
    assert found.differing[1].errors is not None and not found.differing[1].errors.unequal


def test_what_one_has_alone_may_be_renamed(tmp_path: Path) -> None:
    found = _compared(tmp_path, {"old/w": _W, "x": _W[:1]}, {"new/w": _W + 0, "y": _W[:2]})
    (at,) = found.suggested
    assert found.suggested[at].same_values and not found.same


def test_what_cannot_be_read_is_neither_the_same_nor_another(tmp_path: Path) -> None:
    first, second = _known(tmp_path / "first", {"w": _W, "v": _W}), _known(tmp_path / "second", {"w": _W, "v": _W})
    (tmp_path / "second.data-00000-of-00001").unlink()
    found = compared(first, second)
    assert (found.unread, found.differing, found.valued) == ([0, 1], [], 0)


def test_a_large_value_is_compared_a_part_at_a_time(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(variable_differences, "_PIECE", 4)
    other = _W.copy()
    other[1], other[5] = np.nan, 7
    (one,) = _compared(tmp_path, {"w": _W}, {"w": other}).differing
    assert one.errors is not None
    assert (one.errors.size, one.errors.unequal, one.errors.max_abs, one.nan) == (6, 2, 2, (0, 1))
