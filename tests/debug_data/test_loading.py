"""One dumped tensor: from an Event, from a file, and what its file is called."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.dump_maker import CPU0, T0, dump_tensor

from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.debug_data import (
    DebugTensorDatum,
    InconvertibleTensorProto,
    device_name_to_device_path,
    device_path_to_device_name,
    has_inf_or_nan,
    load_tensor_from_event,
    load_tensor_from_event_file,
)
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.messages import schema, tensor_proto


def event_of(proto):
    event = schema.Event()
    event.summary.value.add().tensor.CopyFrom(proto)
    return event


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.array([1, -1], ml_dtypes.bfloat16),
        np.array([b"ab", b"\xff\x00"], object),
        np.array(3, np.int64),
        np.zeros((0, 4), np.float64),
    ],
    ids=lambda array: str(array.dtype),
)
def test_the_array_in_an_event_and_in_its_file(tmp_path, array) -> None:
    from_event = load_tensor_from_event(
        event_of(schema.TensorProto.FromString(b"".join(tensor_proto.encode_parts(array))))
    )
    from_file = load_tensor_from_event_file(str(dump_tensor(tmp_path, "a", 1, array)))
    for found in (from_event, from_file):
        assert isinstance(found, np.ndarray)
        assert (found.dtype, found.shape, found.tolist()) == (array.dtype, array.shape, array.tolist())
        assert found.flags.writeable


def test_a_tensor_that_was_not_initialized() -> None:
    proto = schema.TensorProto.FromString(tensor_proto.encode_head(tensor_proto.element_type(1), (2, 2)))
    found = load_tensor_from_event(event_of(proto))
    assert isinstance(found, InconvertibleTensorProto)
    assert not found.initialized
    assert str(found).startswith("Uninitialized tensor:\ndtype: 1")


def test_a_handle_is_told_from_a_handle_that_was_not_initialized() -> None:
    """Defect of TensorFlow's debugger: every handle that was dumped as a field counts as not initialized."""
    proto = schema.TensorProto(dtype=20)
    proto.tensor_shape.SetInParent()
    assert load_tensor_from_event(event_of(proto)).initialized is False
    proto.resource_handle_val.append(b"\x0a\x01x")
    found = load_tensor_from_event(event_of(proto))
    assert found.initialized is True
    assert "resource_handle_val" in str(found)


@pytest.mark.parametrize("name", BUILT_IN_FILTERS)
def test_every_filter_takes_what_stands_for_a_tensor_without_an_array(name) -> None:
    datum = DebugTensorDatum("/nowhere", "_tfdbg_device_,device_CPU_0/v_0_DebugIdentity_1")
    assert not BUILT_IN_FILTERS[name](datum, InconvertibleTensorProto("dtype: DT_RESOURCE"))


def test_has_inf_or_nan_sees_bfloat16() -> None:
    """Defect of TensorFlow's debugger: NaN of bfloat16 and float8 is not seen."""
    assert has_inf_or_nan(None, np.array([np.nan], ml_dtypes.bfloat16))
    assert has_inf_or_nan(None, np.array([np.nan], ml_dtypes.float8_e5m2))
    assert not has_inf_or_nan(None, np.array([1], ml_dtypes.bfloat16))


def test_what_cannot_be_read_says_why(tmp_path) -> None:
    path = dump_tensor(tmp_path, "a", 1, [1.0] * 1000)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(TfdbgError, match="cut off") as cut:
        load_tensor_from_event_file(str(path))
    assert str(path) in str(cut.value)
    with pytest.raises(FileNotFoundError):
        load_tensor_from_event_file(str(tmp_path / "gone"))
    with pytest.raises(TfdbgError, match="holds no tensor"):
        load_tensor_from_event(schema.Event())


def test_a_datum_from_the_path_of_a_file(tmp_path) -> None:
    path = dump_tensor(tmp_path, "scope/a_b:2", 7, [1.0, 2.0], repeat=3)
    datum = DebugTensorDatum(str(tmp_path), str(path.relative_to(tmp_path)))
    assert (datum.device_name, datum.node_name, datum.output_slot, datum.debug_op) == (
        CPU0, "scope/a_b", 2, "DebugIdentity",
    )  # fmt: skip
    assert (datum.timestamp, datum.extended_timestamp) == (T0 + 7, f"{T0 + 7}-3")
    assert (datum.tensor_name, datum.watch_key) == ("scope/a_b:2", "scope/a_b:2:DebugIdentity")
    assert (datum.file_path, datum.dump_size_bytes) == (str(path), path.stat().st_size)
    assert datum.get_tensor().tolist() == [1, 2]
    assert str(datum) == f"{{DebugTensorDatum ({CPU0}) scope/a_b:2 @ DebugIdentity @ {T0 + 7}}}"


def test_a_datum_of_a_file_that_is_not_there_or_called_otherwise() -> None:
    assert DebugTensorDatum("/nowhere", "_tfdbg_device_,d/v_0_DebugIdentity_1").dump_size_bytes is None
    with pytest.raises(ValueError, match="does not conform to the naming pattern: v_0"):
        DebugTensorDatum("/nowhere", "_tfdbg_device_,d/v_0")
    for name in ("nonsense", "", "/"):  # a blind test: these had no device before them, and raised of unpacking
        with pytest.raises(ValueError, match="does not conform to the naming pattern"):
            DebugTensorDatum("/nowhere", name)


def test_devices_and_their_directories() -> None:
    assert device_name_to_device_path(CPU0) == "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"
    assert device_path_to_device_name(f"/some/where/{device_name_to_device_path(CPU0)}") == CPU0
