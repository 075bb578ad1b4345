"""Checkpoints written without TensorFlow: an index of one block, and one data file."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tfdbg_cli.formats.checkpoints.sorted_table import MAGIC
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.tensor_proto import storable, varint
from tfdbg_cli.formats.recording.checksum import masked_checksum


def block(entries: Mapping[bytes, bytes], compression: int = 0) -> bytes:
    """A block of a table, with its trailer; keys share what they can."""
    content, before = b"", b""
    for key, value in sorted(entries.items()):
        shared = next((i for i, (a, b) in enumerate(zip(key, before, strict=False)) if a != b), 0)
        content += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    content += struct.pack("<II", 0, 1)
    tail = bytes([compression])
    return content + tail + struct.pack("<I", masked_checksum(content + tail))


def table(entries: Mapping[bytes, bytes], compression: int = 0) -> bytes:
    """A table of one block."""
    data = block(entries, compression)
    handle = varint(0) + varint(len(data) - 5)
    index_at = len(data)
    data += block({b"\xff": handle})
    footer = varint(0) + varint(0) + varint(index_at) + varint(len(data) - index_at - 5)
    return data + footer.ljust(40, b"\0") + MAGIC


def text_content(texts: list[bytes]) -> tuple[bytes, int]:
    """Strings as they lie in a data file, and their checksum."""
    lengths = b"".join(struct.pack("<I", len(text)) for text in texts)
    check = struct.pack("<I", masked_checksum(lengths))
    joined = b"".join(texts)
    return b"".join(varint(len(text)) for text in texts) + check + joined, masked_checksum(lengths + check + joined)


def checkpoint(prefix: Path, arrays: Mapping[str, np.ndarray], objects: bytes = b"") -> Path:
    """A checkpoint called `prefix` of these variables; the path of its index."""
    prefix.parent.mkdir(parents=True, exist_ok=True)
    entries = {b"": schema.CLASSES["BundleHeaderProto"](num_shards=1).SerializeToString()}
    data = b""
    named = {**arrays, **({"_CHECKPOINTABLE_OBJECT_GRAPH": np.array(objects, object)} if objects else {})}
    for key, array in sorted(named.items()):
        element = storable(array)
        content, checksum = array.tobytes(), masked_checksum(array.tobytes())
        if array.dtype.hasobject:
            content, checksum = text_content(list(array.reshape(-1)))
        entry = schema.CLASSES["BundleEntryProto"](
            dtype=element.number, offset=len(data), size=len(content), crc32c=checksum
        )
        entry.shape.SetInParent()
        for size in array.shape:
            entry.shape.dim.add(size=size)
        entries[key.encode()] = entry.SerializeToString()
        data += content
    prefix.with_name(f"{prefix.name}.data-00000-of-00001").write_bytes(data)
    index = prefix.with_name(f"{prefix.name}.index")
    index.write_bytes(table(entries))
    return index
