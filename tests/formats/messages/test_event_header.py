from __future__ import annotations

import contextlib
import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.event_file import write_tensor
from tfdbg_cli.formats.messages.event_header import CONTENT, NotATensorError, read_header
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.values import Array


def event(array: Array, dtype: str = "", watch: str = "scope/node:3:DebugIdentity") -> bytes:
    file = io.BytesIO()
    write_tensor(file, array, watch, "/device:CPU:0", 123, dtype)
    return file.getvalue()


@given(
    npst.arrays(
        st.sampled_from(["f4", "i8", "u1", "c8", "?"]),
        npst.array_shapes(min_dims=0, min_side=0, max_side=200, max_dims=3),
    )
)
@settings(deadline=None)
def test_type_shape_and_place_of_the_values(array: Array) -> None:
    data = event(array)
    header = read_header(data)
    assert element_type(header.dtype).numpy == array.dtype
    assert header.shape == array.shape
    if array.size:
        assert header.field == CONTENT
        assert data[header.offset : header.offset + header.length] == array.tobytes()
    else:
        assert (header.field, header.length) == (0, 0)


def test_it_is_one_plain_event() -> None:
    """The file is no TFRecord: it parses as an Event from its first byte to its last."""
    parsed = schema.Event.FromString(event(np.ones(2, np.float32)))
    (value,) = parsed.summary.value
    assert (value.tag, value.node_name) == ("scope/node", "scope/node:3:DebugIdentity")
    assert parsed.wall_time == 123


def test_the_header_needs_no_values() -> None:
    data = event(np.zeros(1 << 20, np.float64))
    header = read_header(data[:512])
    assert header.shape == (1 << 20,)
    assert header.length == math.prod(header.shape) * 8


def test_strings_begin_with_their_first_value() -> None:
    header = read_header(event(np.array([b"cat", b"mouse"], object)))
    assert (header.field, header.length, header.shape) == (8, 3, (2,))


def test_an_unknown_rank() -> None:
    proto = schema.TensorProto(dtype=1)
    proto.tensor_shape.unknown_rank = True
    parsed = schema.Event()
    parsed.summary.value.add().tensor.CopyFrom(proto)
    assert read_header(parsed.SerializeToString()).shape is None


@pytest.mark.parametrize("array", [np.ones((3, 4), np.float32), np.array([b"cat"] * 9, object)])
def test_a_header_that_is_cut_off_says_so_at_every_byte(array: Array) -> None:
    data = event(array)
    begin = read_header(data).offset
    for length in range(begin - 1):
        with pytest.raises(IndexError):
            read_header(data[:length])


@pytest.mark.parametrize(
    "data",
    [
        b"\x1a\x0bbrain.Event" + b"\xff" * 11,  # the first record of a TensorBoard file, and a number without end
        schema.Event(graph_def=b"abc").SerializeToString() + b"\x2a\x00",
        b"\x2a\x02\x0a\x09",
        b"\x0b",
    ],
)
def test_other_files_are_no_tensors(data: bytes) -> None:
    with pytest.raises(NotATensorError):
        read_header(data)


def test_a_negative_size_is_refused() -> None:
    parsed = schema.Event()
    parsed.summary.value.add().tensor.tensor_shape.dim.add(size=-1)
    with pytest.raises(NotATensorError, match="negative"):
        read_header(parsed.SerializeToString())


def test_more_dimensions_than_tensorflow_allows_are_refused() -> None:
    parsed = schema.Event()
    shape = parsed.summary.value.add().tensor.tensor_shape
    for _ in range(300):
        shape.dim.add(size=1)
    with pytest.raises(NotATensorError, match="dimensions"):
        read_header(parsed.SerializeToString())


@settings(max_examples=500)
@given(st.binary(max_size=80))
def test_random_bytes_raise_nothing_else(data: bytes) -> None:
    with contextlib.suppress(NotATensorError, IndexError):
        read_header(data)


@settings(max_examples=300)
@given(st.data())
def test_one_wrong_byte_raises_nothing_else(data: st.DataObject) -> None:
    good = bytearray(event(np.ones((2, 3), np.float32)))
    good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(NotATensorError, IndexError):
        read_header(bytes(good))
