"""What is fed, as arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.model.values import Lack, NoValue, as_array, known_array


def test_byte_strings_stay_as_they_are() -> None:
    """NumPy's fixed width would lose the zero byte that TensorFlow feeds."""
    assert as_array([b"a\0", b"bc"]).tolist() == [b"a\0", b"bc"]
    assert as_array(["\u00e4", b"\xff\0"]).tolist() == ["\u00e4", b"\xff\0"]
    assert as_array([["a"], ["b"]]).dtype.kind == "U"


def test_arrays_and_numbers() -> None:
    array = np.arange(3)
    assert as_array(array) is array
    assert as_array(1.5).shape == ()
    assert as_array([[1, 2], [3, 4]]).shape == (2, 2)
    with pytest.raises(ValueError):
        as_array([[1], [1, 2]])


def test_a_value_that_is_not_there_is_none() -> None:
    array = np.arange(3)
    assert known_array(array) is array
    assert known_array(NoValue(Lack.GONE, "It is gone.")) is None
