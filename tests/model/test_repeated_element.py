"""A constant that claims many elements is answered from the one that it has."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple

import numpy as np
import pytest

from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.tensor_proto import decode
from tfdbg_cli.model.repeated_element import first_places, of_each, repeated_element
from tfdbg_cli.model.statistics import any_nonfinite, largest_magnitude, nonfinite_mask, summarize
from tfdbg_cli.model.values import NoValue

COUNT = 1 << 26
CASES = [
    *((value, dtype) for dtype in ("float32", "float16", "complex64") for value in (0, 1, -3, np.nan, np.inf)),
    *((value, dtype) for dtype in ("int32", "bool") for value in (0, 1)),
]


@contextmanager
def _small(most: int = 16 << 20) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("value", "dtype"), CASES)
def test_what_is_said_of_a_constant_is_what_is_true_of_the_array(value: float, dtype: str) -> None:
    element = np.asarray(value).astype(dtype)
    claimed = np.broadcast_to(element, (3, 4))
    made = np.full((3, 4), element)
    assert repeated_element(claimed) is not None
    assert repeated_element(made) is None
    np.testing.assert_equal(astuple(summarize(claimed)), astuple(summarize(made)))
    assert any_nonfinite(claimed) == any_nonfinite(made)
    assert np.array_equal(nonfinite_mask(claimed), nonfinite_mask(made))
    assert np.array_equal(nan_mask(claimed), nan_mask(made))
    assert largest_magnitude(claimed, finite=False) == largest_magnitude(made, finite=False)


def test_only_what_is_one_element_counts_as_one() -> None:
    rows = np.broadcast_to(np.arange(3.0), (5, 3))
    assert repeated_element(rows) is None
    assert repeated_element(np.zeros(())) is None
    assert repeated_element(np.zeros((1, 1))) is None
    assert repeated_element(np.zeros((0, 3))) is None
    assert np.array_equal(of_each(np.isnan, rows), np.isnan(rows))


@pytest.mark.parametrize("shape", [(), (7,), (3, 5), (0, 2), (2, 0)])
@pytest.mark.parametrize("most", [1, 3, 100])
def test_the_first_places_are_the_first_of_all(shape: tuple[int, ...], most: int) -> None:
    mask = np.random.default_rng(0).random(shape) < 0.6
    assert first_places(np.asarray(mask), most).tolist() == np.argwhere(mask)[:most].tolist()


def test_a_claim_takes_no_memory() -> None:
    proto = schema.TensorProto(dtype=1, float_val=[float("nan")])
    proto.tensor_shape.dim.add(size=COUNT)
    with _small():
        value = decode(proto)
        assert not isinstance(value, NoValue)
        assert value.shape == (COUNT,)
        assert summarize(value).nan == COUNT
        assert any_nonfinite(value)
        assert first_places(nonfinite_mask(value), 10).tolist() == [[i] for i in range(10)]
    proto.float_val.append(1.0)  # the last of several fills the rest, which has to be made
    assert isinstance(decode(proto), NoValue)
