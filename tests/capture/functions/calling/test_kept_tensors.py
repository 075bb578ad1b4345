"""Tensors that are kept as TensorFlow made them: their values, and which of them lie in the same memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import tfdbg_cli
from tfdbg_cli.capture.functions.calling.kept_tensors import KeptTensors, alias
from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.model.names import TensorName

pytestmark = pytest.mark.tf


def _kept(*tensors: tf.Tensor) -> KeptTensors:
    names = [TensorName(f"t{at}", 0) for at in range(len(tensors))]
    types = [tensor.dtype.as_datatype_enum for tensor in tensors]
    return KeptTensors.of(
        (Shown(name, "Const", "", dtype), tensor) for name, dtype, tensor in zip(names, types, tensors, strict=True)
    )


def test_tensors_in_one_buffer_have_one_address() -> None:
    one = tf.range(100.0)
    kept = _kept(one, alias(one), tf.range(100.0))
    first, second, third = (kept.memory(row) for row in range(3))
    assert first is not None and first == second
    assert third not in {None, first}


def test_texts_have_the_size_of_their_bytes() -> None:
    kept = _kept(tf.constant(["abc", "é"]), tf.constant("")[tf.newaxis], tf.range(3))
    assert [kept[row].nbytes for row in range(3)] == [5, 0, 12]


@pytest.mark.parametrize("shape", [[], [1]], ids=["single", "vector"])
@pytest.mark.parametrize(
    "dtype", ["bfloat16", "float16", "float8_e5m2", "float8_e4m3fn", "int4", "uint4", "complex64"]
)
def test_a_single_number_of_any_dtype_has_its_value(dtype: str, shape: list[int]) -> None:
    """A blind test: single float8_e5m2 were lost, since NumPy calls their kind that of its own floats."""
    tensor = tf.cast(tf.fill(shape, tf.constant(3, tf.int8 if "int" in dtype else tf.float32)), dtype)
    value = _kept(tensor).value(0)
    assert isinstance(value, np.ndarray) and (value.dtype, value.shape) == (tensor.dtype.as_numpy_dtype, tuple(shape))
    assert (value == np.full(shape, 3, value.dtype)).all()


def test_what_numpy_gets_a_copy_of_has_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy is freed, and the next one may lie where it was."""
    texts = _kept(tf.constant([b"a", b"b"]), tf.constant(b"c"))
    assert [texts.memory(row) for row in range(2)] == [None, None]
    there = compat.host_array
    monkeypatch.setattr(compat, "host_array", lambda tensor: there(tensor).copy())  # as of one on an accelerator
    assert _kept(tf.range(100.0)).memory(0) is None


def test_recorded_strings_are_those_of_the_program(tmp_path: Path) -> None:
    @tf.function
    def spelled(words: tf.Tensor) -> dict[str, tf.Tensor]:
        joined = tf.strings.join([words, "+"], name="joined")
        return {
            "joined": joined,
            "upper": tf.strings.upper(joined, name="upper"),
            "first": tf.strings.substr(words, 0, 1, name="first"),
            "turned": tf.gather(words, [1, 0], name="turned"),
            "coded": tf.io.encode_base64(words, name="coded"),
        }

    try:
        with tfdbg_cli.record(tmp_path / "r", every=1):
            given = [spelled(tf.constant([f"a{number}", f"b{number}"])) for number in range(5)]
    finally:
        tfdbg_cli.disable()
    recording = tfdbg_cli.open_recording(tmp_path / "r")
    assert len(recording.runs) == len(given)
    for place, expected in enumerate(given):
        found = {tensor.name.rpartition(":")[0]: tensor[...] for tensor in recording.tensors(run=place)}
        for node, value in expected.items():
            np.testing.assert_array_equal(found[node], value.numpy())


@pytest.mark.parametrize("before", ["", "/job:localhost/replica:0/task:0"], ids=["alone", "in a cluster"])
def test_a_device_that_is_asked_for_by_its_number_counts_where_it_is_there(
    monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    """TensorFlow says of values of any CPU that they lie on the first one."""
    from tfdbg_cli.capture.functions.calling import kept_tensors

    place, task = kept_tensors._place, "/job:localhost/replica:0/task:0"
    place.cache_clear()
    there = frozenset(f"{before}/device:CPU:{number}" for number in range(2))
    monkeypatch.setattr(kept_tensors, "_logical_devices", lambda: there)
    found = f"{task}/device:CPU:0"
    assert place("/device:CPU:1", found) == f"{task}/device:CPU:1"
    assert place("/device:CPU:2", found) == found, "there is none: TensorFlow took another"
    assert place("/device:GPU:0", found) == place("", found) == found
    assert place("/job:worker/device:CPU:1", found) == found
    assert place(f"{task}/device:CPU:1", found) == f"{task}/device:CPU:1"
    place.cache_clear()
