"""Which message a file holds. Files do not say so: it is told by what their first fields look like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from tfdbg_cli.formats.messages.wire import BYTES, VARINT, DamagedMessageError, WireField, first_part, parts

LOOKED_AT = 1 << 16  # bytes from which the kind is told
_MOST_PARTS = 64
_NAME = re.compile(rb"[\w.\-/\\>]+\Z")
_TEXT = re.compile(
    rb"\s*(?:#[^\n]*\s*)*(?P<field>node|versions|library|meta_info_def|graph_def|saved_model_schema_version|meta_graphs"
    rb"|step_stats|partition_graphs|function_graphs)\s*(?P<mark>[:{<])"
)


class FileKind(Enum):
    """What a file holds, in words."""

    GRAPH = "a GraphDef"
    META_GRAPH = "a MetaGraphDef"
    SAVED_MODEL = "a SavedModel"
    RUN_METADATA = "a RunMetadata"


_BY_TEXT = {
    b"node": FileKind.GRAPH,
    b"versions": FileKind.GRAPH,
    b"library": FileKind.GRAPH,
    b"meta_info_def": FileKind.META_GRAPH,
    b"graph_def": FileKind.META_GRAPH,
    b"saved_model_schema_version": FileKind.SAVED_MODEL,
    b"meta_graphs": FileKind.SAVED_MODEL,
    b"step_stats": FileKind.RUN_METADATA,
    b"partition_graphs": FileKind.RUN_METADATA,
    b"function_graphs": FileKind.RUN_METADATA,
}


def text_kind(beginning: bytes) -> FileKind | None:
    """What a file holds in protobuf's text format that begins so; None where it is no such file."""
    match = _TEXT.match(beginning.removeprefix(b"\xef\xbb\xbf"))
    return None if match is None else _BY_TEXT[match["field"]]


def binary_kind(beginning: bytes) -> FileKind | None:
    """What a serialized message is that begins so; None where it is none of these."""
    for part in _first(beginning):
        if part.number == 2 and part.wire == BYTES and _has_version(beginning):
            meta = first_part(beginning, 1, part.start, part.end) or first_part(beginning, 2, part.start, part.end)
            return FileKind.SAVED_MODEL if meta is not None and meta.wire == BYTES else None
        if part.wire == BYTES and (kind := _by_field(beginning, part)) is not None:
            return kind
    return None


def _has_version(beginning: bytes) -> bool:
    """Whether the message begins with the version of a SavedModel."""
    part = next(_first(beginning), None)
    return part is not None and (part.number, part.wire) == (1, VARINT) and part.end - part.start == 1


def _first(beginning: bytes) -> Iterator[WireField]:
    try:
        for count, part in enumerate(parts(beginning)):
            if count == _MOST_PARTS:
                return
            yield part
    except DamagedMessageError:
        return


def _by_field(data: bytes, part: WireField) -> FileKind | None:
    if part.number == 1:
        if _is_node(data, part):
            return FileKind.GRAPH
        device = _inner(data, part, 1, 1)
        if device is not None and data[device.start : device.start + 1] == b"/":
            return FileKind.RUN_METADATA
        if _is_info(data, part):
            return FileKind.META_GRAPH
    if part.number == 2:
        if (node := _inner(data, part, 1)) is not None and _is_node(data, node):
            return FileKind.META_GRAPH  # its graph
        name = _inner(data, part, 1, 1, 1)
        if name is not None and _NAME.match(data[name.start : name.end]):
            return FileKind.GRAPH  # its library
        return None
    if part.number in (3, 4):
        node = _inner(data, part, 1) if part.number == 3 else _inner(data, part, 2, 1) or _inner(data, part, 1, 1)
        return FileKind.RUN_METADATA if node is not None and _is_node(data, node) else None
    return None


def _inner(data: bytes, part: WireField, *numbers: int) -> WireField | None:
    """The first field of a field, and so on inwards."""
    found: WireField | None = part
    for number in numbers:
        found = None if found is None else first_part(data, number, found.start, found.end)
        if found is None or found.wire != BYTES:
            return None
    return found


def _is_node(data: bytes, part: WireField) -> bool:
    """Whether the field is a NodeDef: it has a name and an op."""
    found = [_inner(data, part, number) for number in (1, 2)]
    return all(one is not None and _NAME.match(data[one.start : one.end]) for one in found)


def _is_info(data: bytes, part: WireField) -> bool:
    """Whether the field is a MetaInfoDef: it lists ops, or says which TensorFlow wrote it."""
    ops, version = _inner(data, part, 2, 1, 1), _inner(data, part, 5)
    return ops is not None or (version is not None and data[version.start : version.start + 1].isdigit())
