"""The tensor in an Event, or in the file of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.messages import schema, tensor_proto
from tfdbg_cli.formats.messages.event_file import DamagedFileError, read_event, read_tensor
from tfdbg_cli.formats.recording.regular_file import opened
from tfdbg_cli.model.dtypes import HANDLES, element_type
from tfdbg_cli.model.values import Array, Lack, NoValue

_HANDLE_FIELDS = ("tensor_content", "resource_handle_val", "variant_val")


class InconvertibleTensorProto(NoValue):
    """A tensor that no array can hold: not initialized, a handle, or of a type that is not known here.

    `str()` of it is the TensorProto as text.
    """

    def __init__(self, tensor_proto: Any, initialized: bool = True) -> None:
        """Say so of `tensor_proto`: a TensorProto message, or any text about the tensor."""
        if initialized:
            super().__init__(Lack.OPAQUE, str(tensor_proto))
        else:
            super().__init__(Lack.UNINITIALIZED, f"Uninitialized tensor:\n{tensor_proto}")

    def __str__(self) -> str:
        return self.text

    @property
    def initialized(self) -> bool:
        """Whether the tensor had been written when it was dumped."""
        return self.lack is not Lack.UNINITIALIZED


Loaded = Array | InconvertibleTensorProto


def load_tensor_from_event_file(event_file_path: str) -> Loaded:
    """The tensor in a dump file: an array, writable, or an InconvertibleTensorProto.

    bfloat16, float8 and the integers of less than a byte are arrays with the types of ml_dtypes, texts arrays of
    bytes objects.

    Raises:
        OSError: the file cannot be read.
        TfdbgError: it holds no tensor, or is cut off.

    """
    with opened(event_file_path):
        pass
    value = read_tensor(str(event_file_path))
    if isinstance(value, np.ndarray):
        return value
    if value.lack in {Lack.DAMAGED, Lack.GONE}:
        raise TfdbgError(f"{value.text} ({event_file_path})")
    try:
        return load_tensor_from_event(read_event(Path(event_file_path)))
    except DamagedFileError as error:
        raise TfdbgError(str(error)) from error


def load_tensor_from_event(event: Any) -> Loaded:
    """The tensor in `event`, an Event message of TensorFlow's or what `load_tensor_from_event_file` reads.

    Raises:
        TfdbgError: it holds no tensor, or one whose values do not fit its shape.

    """
    if not event.summary.value:
        raise TfdbgError("This Event holds no tensor.", hint="Dumped tensors are in summary.value[0].tensor.")
    message = event.summary.value[0].tensor
    proto = schema.TensorProto.FromString(message.SerializeToString())
    value = tensor_proto.decode(proto)
    if not isinstance(value, NoValue):
        # What was decoded may be a view of the message.
        return value if value.flags.writeable else value.copy()
    if value.lack is Lack.DAMAGED:
        raise TfdbgError(value.text)
    return InconvertibleTensorProto(message, initialized=_is_initialized(proto, value))


def _is_initialized(proto: Any, value: NoValue) -> bool:
    if element_type(proto.dtype).name in HANDLES:
        return any(getattr(proto, field) for field in _HANDLE_FIELDS)
    return value.lack is not Lack.UNINITIALIZED


def inconvertible(value: NoValue) -> InconvertibleTensorProto:
    """What stands for a tensor of which the dump says in words why it has no array."""
    return InconvertibleTensorProto(value.text, initialized=value.lack is not Lack.UNINITIALIZED)
