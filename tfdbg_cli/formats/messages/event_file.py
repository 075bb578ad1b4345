"""One file of a dump directory: an Event that holds a tensor, a graph or a message."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tfdbg_cli.formats.messages import schema, tensor_proto
from tfdbg_cli.formats.messages.event_header import CONTENT, NotATensorError, TensorHeader, read_header
from tfdbg_cli.formats.recording.regular_file import opened, read_whole
from tfdbg_cli.model.dtypes import ElementType, element_type
from tfdbg_cli.model.tensors import Shape, nbytes_of
from tfdbg_cli.model.values import Array, Lack, NoValue, Value

_FIRST_READ = 2048
_HEADER_LIMIT = 1 << 20  # node names stand in the header; no real one is longer
_MESSAGE_LIMIT = (1 << 31) - 1  # protobuf's own

_NOT_A_TENSOR = "This file holds no dumped tensor"


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """What a row of a list shows of a tensor; `shape` and `nbytes` are None when the file does not tell."""

    dtype: str
    shape: Shape | None
    nbytes: int | None


class DamagedFileError(ValueError):
    """A file of a dump cannot be used; the message is a sentence for the screen."""


_NOTHING_KNOWN = TensorFacts("", None, None)


def tensor_facts(path: str) -> TensorFacts:
    """Type, shape and size of the tensor in the file at `path`, from its header alone (strings: from all of it).

    A damaged or missing file gives an empty type and no shape. Never raises.
    """
    try:
        with opened(path) as (file, size):
            header = _header(file)
    except (OSError, NotATensorError, IndexError):
        return _NOTHING_KNOWN
    element, shape = element_type(header.dtype), header.shape
    if header.offset + header.length > size or shape is None:
        return TensorFacts(element.name, shape, None)
    if element.itemsize is not None:
        count = math.prod(shape)
        return TensorFacts(element.name, shape, count * element.itemsize if header.field or not count else None)
    if element.name == "string":
        value = read_tensor(path)
        return TensorFacts(element.name, shape, None if isinstance(value, NoValue) else nbytes_of(value))
    return TensorFacts(element.name, shape, None)


def read_tensor(path: str) -> Value:
    """The tensor in the dump file at `path`, or why there is none. Never raises."""
    try:
        with opened(path) as (file, size):
            return _read_tensor(file, size)
    except FileNotFoundError:
        return NoValue(Lack.GONE, "The file of this tensor is no longer there.")
    except OSError as error:
        return tensor_proto.damaged(f"The file of this tensor cannot be read: {error.strerror or error}.")
    except MemoryError:
        return NoValue(Lack.GONE, "There is not enough memory to load this tensor.")


def _read_tensor(file: BinaryIO, size: int) -> Value:
    if size == 0:
        return tensor_proto.damaged("The file of this tensor is empty; was the disk full?")
    try:
        header = _header(file)
    except IndexError:
        return tensor_proto.damaged(f"The file of this tensor is cut off after {size} bytes.")
    except NotATensorError as error:
        return tensor_proto.damaged(f"{_NOT_A_TENSOR}: {error}.")
    if header.offset + header.length > size:
        return tensor_proto.damaged(
            f"The file of this tensor is cut off: {size} bytes of at least {header.offset + header.length} are there."
        )
    element = element_type(header.dtype)
    lack = tensor_proto.unreadable(element)
    if lack is not None:
        return lack
    if header.field == CONTENT and header.shape is not None and header.length:
        return _read_content(file, header, element, header.shape)
    return _parse_tensor(file, header, size)


def _header(file: BinaryIO) -> TensorHeader:
    data = file.read(_FIRST_READ)
    try:
        return read_header(data)
    except IndexError:
        if len(data) < _FIRST_READ:
            raise
    return read_header(data + file.read(_HEADER_LIMIT))


def _read_content(file: BinaryIO, header: TensorHeader, element: ElementType, shape: Shape) -> Value:
    """Read the elements straight into their array: one copy, and no more memory than the file has bytes."""
    content: Array = np.empty(header.length, np.uint8)
    file.seek(header.offset)
    view, got = content.data, 0
    while got < header.length:
        count = file.readinto(view[got:])  # type: ignore[attr-defined]
        if not count:
            return tensor_proto.damaged(
                f"The file of this tensor is cut off: {header.length - got} bytes are missing."
            )
        got += count
    try:
        return tensor_proto.from_content(content, element, shape)
    except ValueError as error:
        return tensor_proto.damaged(f"The values do not fit the shape {list(shape)}: {str(error).rstrip('.')}.")


def _parse_tensor(file: BinaryIO, header: TensorHeader, size: int) -> Value:
    if size > _MESSAGE_LIMIT:
        return tensor_proto.damaged(f"The file of this tensor is too long for its encoding ({size} bytes).")
    file.seek(0)
    event = schema.Event()
    try:
        event.ParseFromString(file.read())
    except schema.DecodeError:
        if header.end > size:
            return tensor_proto.damaged(f"The file of this tensor is cut off after {size} bytes.")
        return tensor_proto.damaged(f"{_NOT_A_TENSOR}: it does not parse.")
    if not event.summary.value:
        return tensor_proto.damaged(f"{_NOT_A_TENSOR}.")
    return tensor_proto.decode(event.summary.value[0].tensor)


def read_event(path: Path) -> Any:
    """The Event in the file at `path`.

    Raises:
        DamagedFileError: it cannot be read; the message is a sentence for the screen.

    """
    try:
        return schema.Event.FromString(read_whole(path, _MESSAGE_LIMIT))
    except OSError as error:
        raise DamagedFileError(f"The file {path.name} cannot be read: {error.strerror or error}.") from error
    except schema.DecodeError as error:
        raise DamagedFileError(f"The file {path.name} is damaged and was left out.") from error


def write_tensor(
    file: BinaryIO, value: Array | bytes, watch: str, device: str, time_us: int, dtype: str = ""
) -> None:
    """Write the Event of one tensor as TensorFlow's DebugIdentity does (tensorflow/core/debug/debug_io_utils.cc).

    `value` is an array, or a serialized TensorProto for a tensor without one. `watch` is `node:slot:DebugOp`.
    The elements are written from where they lie: what is added is a few hundred bytes.

    Raises:
        ValueError: TensorFlow has no element type for the array.
        OSError: the file cannot be written.

    """
    head, content = (value, memoryview(b"")) if isinstance(value, bytes) else tensor_proto.encode_parts(value, dtype)
    node, slot, _ = watch.rsplit(":", 2)
    description = schema.SummaryValue(tag=node, node_name=watch)
    plugin = description.metadata.plugin_data
    plugin.plugin_name = "debugger"
    plugin.content = json.dumps({"device": device, "outputSlot": int(slot), "numChunks": 1, "chunkIndex": 0}).encode()
    before = description.SerializeToString() + b"\x42" + tensor_proto.varint(len(head) + len(content)) + head
    summary = b"\x0a" + tensor_proto.varint(len(before) + len(content)) + before
    event = schema.Event(wall_time=float(time_us)).SerializeToString()
    file.write(event + b"\x2a" + tensor_proto.varint(len(summary) + len(content)) + summary)
    file.write(content)
