"""Where two runs differ: which elements, by how much, and what became of NaN."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tfdbg_cli.analysis.difference.changes import DifferenceKind, differences
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor
from tfdbg_cli.model.values import Lack, NoValue


def _store(**values):
    tensors = [
        Tensor(TensorName(name, 0), "", 0, str(getattr(value, "dtype", "float32")), None, None, None, "Op")
        for name, value in values.items()
    ]
    return MemoryTensorStore(tensors, list(values.values()))


def _one(first, second):
    found = list(differences(_store(x=np.asarray(first)), _store(x=np.asarray(second))))
    assert len(found) == 1
    return found[0]


def test_the_same_values_do_not_differ_and_a_nan_equals_a_nan() -> None:
    for dtype in (np.float32, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.complex64):
        value = np.array([1, np.nan, np.inf], np.float32).astype(dtype)
        assert not list(differences(_store(x=value), _store(x=value.copy())))
    texts = np.array([b"a", b"b"], object)
    assert not list(differences(_store(x=texts), _store(x=texts.copy())))


def test_elements_are_counted_and_measured() -> None:
    found = _one([1.0, 2.0, 4.0], [1.0, 2.5, 3.0])
    assert (found.kind, found.count, found.size) == (DifferenceKind.VALUES, 2, 3)
    assert found.max_abs == 1.0 and found.max_rel == 0.25


def test_what_became_finite_or_not_is_said() -> None:
    assert _one([np.nan, 1.0], [2.0, 1.0]).kind is DifferenceKind.BECAME_FINITE
    assert _one([2.0, 1.0], [-np.inf, 1.0]).kind is DifferenceKind.BECAME_NONFINITE
    half = np.array([1, np.nan], np.float32).astype(ml_dtypes.bfloat16)
    assert _one(half, np.ones_like(half)).kind is DifferenceKind.BECAME_FINITE


def test_other_shapes_dtypes_and_tensors_that_only_one_run_has() -> None:
    assert _one(np.zeros(3), np.zeros(4)).kind is DifferenceKind.SHAPE
    assert _one(np.zeros(3), np.zeros(3, np.float32)).kind is DifferenceKind.DTYPE
    found = list(differences(_store(a=np.zeros(1)), _store(b=np.zeros(1))))
    assert [(item.kind, item.first, item.second) for item in found] == [
        (DifferenceKind.ONLY_SECOND, None, 0),
        (DifferenceKind.ONLY_FIRST, 0, None),
    ]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_large_integers_one_apart_differ(dtype) -> None:
    found = _one(np.array([2**60], dtype), np.array([2**60 + 1], dtype))
    assert found.count == 1


def test_unknown_values_are_not_compared_and_empty_ones_are_the_same() -> None:
    nothing = NoValue(Lack.GONE, "gone")
    assert not list(differences(_store(x=nothing), _store(x=np.zeros(2))))
    assert not list(differences(_store(x=np.zeros((0, 3))), _store(x=np.zeros((0, 3)))))
