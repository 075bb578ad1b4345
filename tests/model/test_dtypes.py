import ml_dtypes
import numpy as np
import pytest

from tfdbg_cli.model.dtypes import (
    HANDLES,
    element_type,
    element_type_named,
    element_type_names,
    is_inexact,
    lacks_numpy_type,
    name_of,
)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz"])
def test_small_floats_can_hold_a_nan(name):
    """TensorFlow's tfdbg: NaNs in bfloat16 and float8 were unseen, since they are not np.floating."""
    assert is_inexact(np.dtype(getattr(ml_dtypes, name)))


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.bool_, np.dtype("O"), np.dtype("S3"), ml_dtypes.int4])
def test_integers_texts_and_booleans_cannot(dtype):
    assert not is_inexact(np.dtype(dtype))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.complex128])
def test_floats_and_complex_numbers_can(dtype):
    assert is_inexact(np.dtype(dtype))


def test_a_ref_type_is_its_base():
    assert element_type(101) == element_type(1)
    assert element_type_named("float32_ref") == element_type(1)


def test_types_numpy_cannot_hold_have_no_numpy_dtype():
    assert element_type(20).numpy is None
    assert element_type(21).itemsize is None
    assert element_type(7).itemsize is None
    assert element_type(999).name.startswith("dtype ")


def test_what_the_oldest_ml_dtypes_lacks():
    """TensorFlow 2.16 takes ml_dtypes 0.3; nothing but these types is lost with it."""
    lost = {name for name in element_type_names() if element_type_named(name).numpy is None} - HANDLES
    assert lost == {name for name in ("int2", "uint2", "float4_e2m1fn") if not hasattr(ml_dtypes, name)}
    assert all(lacks_numpy_type(element_type_named(name)) for name in lost)
    assert not lacks_numpy_type(element_type(1))
    assert not lacks_numpy_type(element_type(20))
    assert not lacks_numpy_type(element_type(999))


def test_texts_are_called_string():
    assert name_of(np.dtype("O")) == name_of(np.dtype("U4")) == "string"
    assert name_of(np.dtype(ml_dtypes.bfloat16)) == "bfloat16"


@pytest.mark.tf
def test_numbers_and_names_are_tensorflows():
    import tensorflow as tf

    for number, name in _tf_types(tf):
        ours = element_type(number)
        assert ours.name == name
        if ours.numpy is not None and name != "string" and not name.startswith("q"):
            assert ours.numpy == np.dtype(tf.as_dtype(number).as_numpy_dtype)


def _tf_types(tf):
    found = []
    for number in range(1, 33):
        try:
            found.append((number, tf.as_dtype(number).name))
        except (TypeError, KeyError):
            continue
    assert len(found) >= 27  # 2.16 knows so many
    return found
