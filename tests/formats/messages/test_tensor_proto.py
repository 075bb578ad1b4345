from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.tensor_proto import decode, encode_head, encode_parts, varint
from tfdbg_cli.model import dtypes
from tfdbg_cli.model.dtypes import element_type, element_type_named
from tfdbg_cli.model.values import Array, Lack, NoValue


def encode(array: Array, dtype: str = "") -> schema.TensorProto:
    return schema.TensorProto.FromString(b"".join(encode_parts(array, dtype)))


PLAIN = [
    "float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool", "complex64", "complex128", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz",
    "float8_e4m3b11fnuz", "float8_e5m2fnuz", "int4", "uint4", "int2", "uint2", "float4_e2m1fn",
    "qint8", "quint8", "qint16", "quint16", "qint32",
]  # fmt: skip

NEW = {"int2", "uint2", "float4_e2m1fn"}  # in ml_dtypes from 0.5 on; TensorFlow 2.16 takes 0.3 and knows none of them


def _there(name: str) -> None:
    if name in NEW and not hasattr(ml_dtypes, name):
        pytest.skip(f"ml_dtypes {ml_dtypes.__version__} has no {name}")


UNKNOWN_TO_MAKE_TENSOR_PROTO = {"float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz"}


def sample(name: str, shape: tuple[int, ...] = (2, 3)) -> Array:
    element = element_type_named(name)
    assert element is not None and element.numpy is not None
    return (np.arange(np.prod(shape)) % 2).reshape(shape).astype(element.numpy)


def same(first: object, second: Array) -> bool:
    """Equal in type, shape and every bit (NaN as well)."""
    return (
        isinstance(first, np.ndarray)
        and first.dtype == second.dtype
        and first.shape == second.shape
        and (list(first.flat) == list(second.flat) if first.dtype == object else first.tobytes() == second.tobytes())
    )


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0,), (3, 0, 2)])
def test_every_type_comes_back_as_it_was(name: str, shape: tuple[int, ...]) -> None:
    _there(name)
    array = sample(name, shape)
    proto = encode(array, name)
    assert element_type(proto.dtype).name == name
    assert same(decode(proto), array)


@given(npst.arrays(npst.scalar_dtypes(), npst.array_shapes(min_dims=0, min_side=0, max_side=4)))
def test_any_numeric_array_comes_back_or_is_refused(array: Array) -> None:
    if array.dtype.kind in "mM" or array.dtype.itemsize > 16:
        with pytest.raises(ValueError, match="no element type"):
            encode(array)
    else:
        assert same(decode(encode(array)), array.astype(array.dtype.newbyteorder("=")))


@given(st.lists(st.binary() | st.text(), max_size=5))
def test_texts_come_back_as_bytes(items: list[bytes | str]) -> None:
    array = np.empty(len(items), object)
    array[:] = items
    expected = [item if isinstance(item, bytes) else item.encode("utf-8", "surrogateescape") for item in items]
    value = decode(encode(array))
    assert isinstance(value, np.ndarray) and list(value) == expected


def test_numpy_text_arrays_are_strings() -> None:
    value = decode(encode(np.array(["cat", "Käse"])))
    assert isinstance(value, np.ndarray) and list(value) == [b"cat", "Käse".encode()]


def test_objects_that_are_no_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="not texts"):
        encode(np.array([object()], object))


def test_non_contiguous_and_big_endian_arrays() -> None:
    array = np.arange(12, dtype=">i4").reshape(3, 4).T
    value = decode(encode(array))
    assert isinstance(value, np.ndarray) and value.dtype == np.int32 and (value == array).all()


def test_special_values_keep_their_bits() -> None:
    bits = np.array([0x7FC00001, 0xFF800000, 0x80000000, 1], np.uint32)
    value = decode(encode(bits.view(np.float32)))
    assert isinstance(value, np.ndarray) and (value.view(np.uint32) == bits).all()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("int4", [-8, 7, 1, -1, 0]),
        ("uint4", [15, 0, 1, 8, 7]),
        ("int2", [-2, 1, 0, -1, 1]),
        ("uint2", [3, 0, 1, 2, 3]),
    ],
)
def test_types_below_a_byte_packed_or_not(name: str, numbers: list[int], packed: bool) -> None:
    _there(name)
    element = element_type_named(name)
    assert element is not None
    bits = int(name[-1])
    raw = [number & (1 << bits) - 1 for number in numbers]
    if packed:
        whole = sum(number << bits * place for place, number in enumerate(raw))
        content = whole.to_bytes(-(-len(raw) * bits // 8), "little")
    else:
        content = bytes(raw)
    proto = schema.TensorProto.FromString(encode_head(element, (len(numbers),)))
    proto.tensor_content = content
    value = decode(proto)
    assert isinstance(value, np.ndarray) and value.astype(int).tolist() == numbers


def test_a_type_that_the_installed_ml_dtypes_lacks_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = replace(element_type(31), numpy=None)
    monkeypatch.setitem(dtypes._BY_NUMBER, 31, lacking)
    monkeypatch.setitem(dtypes._BY_NAME, "int2", lacking)
    proto = schema.TensorProto.FromString(encode_head(lacking, (2,)))
    proto.tensor_content = b"\x01\x02"
    value = decode(proto)
    assert isinstance(value, NoValue) and value.lack is Lack.UNKNOWN_DTYPE
    assert (
        value.text == f"The installed ml_dtypes {ml_dtypes.__version__} has no int2; a newer one shows this tensor."
    )
    assert decode(schema.TensorProto(dtype=77)).text == "This tfdbg does not know the element type dtype 77."
    with pytest.raises(ValueError, match="no element type int2"):
        encode(np.zeros(2, np.int8), "int2")


TYPED = [
    (1, "float_val", [1.5, -2.0], [1.5, -2.0]),
    (2, "double_val", [0.1], [0.1]),
    (3, "int_val", [-7, 2**31 - 1], [-7, 2**31 - 1]),
    (4, "int_val", [255], [255]),
    (6, "int_val", [-128], [-128]),
    (8, "scomplex_val", [1.0, 2.0, 3.0, -4.0], [1 + 2j, 3 - 4j]),
    (9, "int64_val", [-(2**63)], [-(2**63)]),
    (10, "bool_val", [True, False], [True, False]),
    (12, "int_val", [200], [200]),
    (18, "dcomplex_val", [0.5, 0.25], [0.5 + 0.25j]),
    (19, "half_val", [15360, 49152], [1.0, -2.0]),
    (14, "half_val", [16256], [1.0]),
    (22, "uint32_val", [2**32 - 1], [2**32 - 1]),
    (23, "uint64_val", [2**64 - 1], [2**64 - 1]),
    (29, "int_val", [-8, 7], [-8, 7]),
    (30, "int_val", [15], [15]),
]


@pytest.mark.parametrize(("number", "field", "written", "expected"), TYPED)
def test_typed_fields(number: int, field: str, written: list[object], expected: list[object]) -> None:
    proto = schema.TensorProto(dtype=number)
    proto.tensor_shape.dim.add(size=len(expected))
    getattr(proto, field).extend(written)
    value = decode(proto)
    assert isinstance(value, np.ndarray)
    assert value.dtype == element_type(number).numpy
    assert value.tolist() == expected


def test_float8_bytes() -> None:
    proto = schema.TensorProto(dtype=24, float8_val=b"\x3c\x00")
    proto.tensor_shape.dim.add(size=2)
    value = decode(proto)
    assert isinstance(value, np.ndarray) and value.dtype == ml_dtypes.float8_e5m2
    assert value.astype(float).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("number", "field", "item"), [(1, "float_val", 2.5), (7, "string_val", b"x"), (10, "bool_val", True)]
)
def test_the_last_value_stands_for_the_rest(number: int, field: str, item: object) -> None:
    proto = schema.TensorProto(dtype=number)
    proto.tensor_shape.dim.add(size=3)
    getattr(proto, field).append(item)
    value = decode(proto)
    assert isinstance(value, np.ndarray) and value.tolist() == [item] * 3


def lack(proto: object) -> Lack:
    value = decode(proto)
    assert isinstance(value, NoValue) and value.text.endswith(".")
    return value.lack


def shaped(number: int, *sizes: int) -> object:
    proto = schema.TensorProto(dtype=number)
    for size in sizes:
        proto.tensor_shape.dim.add(size=size)
    return proto


def test_a_type_and_a_shape_without_values_is_uninitialized() -> None:
    assert lack(shaped(1, 2)) is Lack.UNINITIALIZED
    assert lack(shaped(7)) is Lack.UNINITIALIZED
    proto = schema.TensorProto(dtype=1)
    proto.tensor_shape.unknown_rank = True
    assert lack(proto) is Lack.UNINITIALIZED


def test_handles_are_opaque() -> None:
    for number in (20, 21, 120):
        proto = shaped(number, 2)
        assert lack(proto) is Lack.OPAQUE


def test_types_of_a_newer_tensorflow() -> None:
    assert lack(shaped(77, 2)) is Lack.UNKNOWN_DTYPE
    assert lack(shaped(0, 2)) is Lack.UNKNOWN_DTYPE


def test_a_claim_of_many_elements_takes_no_memory() -> None:
    proto = shaped(1, 10**15)
    proto.float_val.append(1.0)  # type: ignore[attr-defined]
    assert lack(proto) is Lack.DAMAGED
    proto = shaped(1, 10**9, 10**9, 10**9)
    proto.tensor_content = b"1234"  # type: ignore[attr-defined]
    assert lack(proto) is Lack.DAMAGED


@pytest.mark.parametrize("sizes", [(-1,), (3,), (0,), (2**40, 0, 2**40, 2**40)])
def test_content_that_does_not_fit_is_damage(sizes: tuple[int, ...]) -> None:
    proto = shaped(1, *sizes)
    proto.tensor_content = b"12345678"  # type: ignore[attr-defined]
    assert lack(proto) is Lack.DAMAGED


def test_too_many_values_are_damage() -> None:
    proto = shaped(1, 1)
    proto.float_val.extend([1.0, 2.0])  # type: ignore[attr-defined]
    assert lack(proto) is Lack.DAMAGED
    proto = shaped(8, 1)
    proto.scomplex_val.append(1.0)  # type: ignore[attr-defined]
    assert lack(proto) is Lack.DAMAGED


def test_more_dimensions_than_numpy_has() -> None:
    proto = shaped(4, *[1] * 100)
    proto.tensor_content = b"1"  # type: ignore[attr-defined]
    assert lack(proto) is Lack.DAMAGED


@settings(max_examples=300)
@given(st.binary(max_size=60))
def test_random_bytes_never_raise(data: bytes) -> None:
    try:
        proto = schema.TensorProto.FromString(data)
    except schema.DecodeError:
        return
    value = decode(proto)
    assert isinstance(value, np.ndarray | NoValue)


@given(st.integers(0, 2**63 - 1))
def test_varint_is_the_one_of_protobuf(number: int) -> None:
    expected = schema.TensorProto(uint64_val=[number]).SerializeToString()
    assert expected.endswith(varint(number)) or number == 0


@pytest.mark.tf
@pytest.mark.parametrize("name", [name for name in PLAIN if name not in UNKNOWN_TO_MAKE_TENSOR_PROTO] + ["string"])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_the_same_as_tensorflow_reads(name: str, count: int) -> None:
    """tf.make_tensor_proto writes, we read; we write, tf.make_ndarray reads."""
    _there(name)
    import tensorflow as tf
    from tensorflow.core.framework import tensor_pb2

    try:
        dtype = tf.dtypes.as_dtype(name)
    except TypeError:
        assert name in NEW
        pytest.skip(f"TensorFlow {tf.__version__} has no {name}")
    items = [b"a", b"", b"\xff"] * 3 if name == "string" else [1, 0, 1] * 3
    written = np.array(items[:count]).astype(object if name == "string" else dtype.as_numpy_dtype)
    theirs = tf.make_tensor_proto(written, dtype=dtype)
    value = decode(schema.TensorProto.FromString(theirs.SerializeToString()))
    assert isinstance(value, np.ndarray)
    expected = tf.make_ndarray(theirs)
    assert _plain(value) == _plain(expected)
    ours = tensor_pb2.TensorProto.FromString(encode(value, name).SerializeToString())
    assert _plain(tf.make_ndarray(ours)) == _plain(expected)


def _plain(array: Array) -> object:
    return array.tolist() if array.dtype == object else (array.shape, array.tobytes())
