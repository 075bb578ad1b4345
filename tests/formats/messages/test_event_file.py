from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.dump_maker import dump_tensor

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.event_file import (
    DamagedFileError,
    TensorFacts,
    read_event,
    read_tensor,
    tensor_facts,
    write_tensor,
)
from tfdbg_cli.model.values import Lack, NoValue

IN_PLACE = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=200
)


def facts(path: Path) -> TensorFacts:
    return tensor_facts(str(path))


def lack(path: Path) -> Lack:
    value = read_tensor(str(path))
    assert isinstance(value, NoValue) and value.text.endswith((".", "?"))
    return value.lack


def test_the_size_of_a_tensor_is_not_the_size_of_its_file(tmp_path: Path) -> None:
    """Defect of TensorFlow's debugger: dump size != tensor size (a tensor of two floats shows 180 B)."""
    path = dump_tensor(tmp_path, "a:0", 0, [1.0, 2.0])
    assert path.stat().st_size > 100
    assert facts(path) == TensorFacts("float32", (2,), 8)


def test_the_size_of_strings_is_that_of_their_bytes(tmp_path: Path) -> None:
    path = dump_tensor(tmp_path, "a:0", 0, np.array([b"cat", b"", "Käse".encode()], object))
    assert facts(path) == TensorFacts("string", (3,), 8)


def test_values_are_arrays_of_their_own(tmp_path: Path) -> None:
    value = read_tensor(str(dump_tensor(tmp_path, "a:0", 0, [1.0, 2.0])))
    assert isinstance(value, np.ndarray)
    value[0] = 5
    assert value.tolist() == [5, 2]


def test_a_node_name_longer_than_the_first_read(tmp_path: Path) -> None:
    path = tmp_path / "long"
    with path.open("wb") as file:
        write_tensor(file, np.arange(4), f"{'n' * 5000}:0:DebugIdentity", "", 0)
    assert facts(path) == TensorFacts("int64", (4,), 32)
    value = read_tensor(str(path))
    assert isinstance(value, np.ndarray) and value.tolist() == [0, 1, 2, 3]


def test_uninitialized_and_opaque(tmp_path: Path) -> None:
    for number, expected, known in ((1, Lack.UNINITIALIZED, "float32"), (20, Lack.OPAQUE, "resource")):
        proto = schema.TensorProto(dtype=number)
        proto.tensor_shape.dim.add(size=2)
        path = tmp_path / known
        with path.open("wb") as file:
            write_tensor(file, proto.SerializeToString(), "u:0:DebugIdentity", "", 0)
        assert lack(path) is expected
        assert facts(path) == TensorFacts(known, (2,), None)


def test_bools_that_are_neither_zero_nor_one(tmp_path: Path) -> None:
    path = tmp_path / "b"
    proto = schema.TensorProto(dtype=10, tensor_content=b"\x00\x02")
    proto.tensor_shape.dim.add(size=2)
    with path.open("wb") as file:
        write_tensor(file, proto.SerializeToString(), "b:0:DebugIdentity", "", 0)
    value = read_tensor(str(path))
    assert isinstance(value, np.ndarray) and value.tobytes() == b"\x00\x01"


def test_every_truncation_is_damage_or_the_whole_value(tmp_path: Path) -> None:
    for value in (np.arange(6, dtype=np.float32).reshape(2, 3), np.array([b"cat", b"mouse"], object)):
        path = dump_tensor(tmp_path, "a:0", 0, value)
        data = path.read_bytes()
        for length in range(len(data)):
            path.write_bytes(data[:length])
            found = read_tensor(str(path))
            assert isinstance(found, NoValue) and found.lack is Lack.DAMAGED, length
            assert facts(path).nbytes is None


def test_no_memory_is_taken_for_what_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "liar"
    proto = schema.TensorProto(dtype=2)
    proto.tensor_shape.dim.add(size=10**15)
    head = proto.SerializeToString() + b"\x22\xff\xff\xff\xff\xff\xff\xff\x7f"
    with path.open("wb") as file:
        write_tensor(file, head, "a:0:DebugIdentity", "", 0)
    assert lack(path) is Lack.DAMAGED
    assert facts(path).nbytes is None


def test_foreign_files_are_damage(tmp_path: Path) -> None:
    for name, data in (
        ("text", b"hello, world\n" * 9),
        ("zeros", bytes(400)),
        ("png", b"\x89PNG\r\n\x1a\n" + bytes(50)),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        assert lack(path) is Lack.DAMAGED
        assert facts(path) == TensorFacts("", None, None)


def test_an_empty_file_may_mean_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    value = read_tensor(str(path))
    assert isinstance(value, NoValue) and "disk" in value.text


def test_a_file_that_went_away(tmp_path: Path) -> None:
    assert lack(tmp_path / "none") is Lack.GONE
    assert tensor_facts(str(tmp_path / "none")) == TensorFacts("", None, None)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = dump_tensor(tmp_path, "a:0", 0)
    path.chmod(0)
    assert lack(path) is Lack.DAMAGED


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    assert lack(tmp_path) is Lack.DAMAGED


@IN_PLACE
@given(data=st.binary(max_size=300))
def test_random_bytes_never_raise(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "random"
    path.write_bytes(data)
    assert isinstance(read_tensor(str(path)), NoValue)
    assert isinstance(facts(path), TensorFacts)


@IN_PLACE
@given(data=st.data())
def test_one_wrong_byte_never_raises(tmp_path: Path, data: st.DataObject) -> None:
    path = dump_tensor(tmp_path, "a:0", 0, [1.0, 2.0, 3.0])
    bad = bytearray(path.read_bytes())
    bad[data.draw(st.integers(0, len(bad) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bad)
    value = read_tensor(str(path))
    if isinstance(value, np.ndarray):
        assert value.nbytes <= len(bad) or value.size == 0
    assert isinstance(facts(path), TensorFacts)


def test_damaged_metadata_says_which_file(tmp_path: Path) -> None:
    path = tmp_path / "_tfdbg_fetches_info_"
    path.write_bytes(b"\xff\xff")
    with pytest.raises(DamagedFileError, match=r"_tfdbg_fetches_info_ is damaged"):
        read_event(path)
    with pytest.raises(DamagedFileError, match="cannot be read"):
        read_event(tmp_path / "none")


def test_little_is_added_to_a_large_tensor(tmp_path: Path) -> None:
    path = dump_tensor(tmp_path, "a:0", 0, np.zeros(1 << 20, np.float32))
    assert path.stat().st_size <= 1.001 * (4 << 20)
