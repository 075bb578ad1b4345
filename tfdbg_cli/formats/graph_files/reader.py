"""A file as the graphs that it holds, whichever message it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.graph_files.binary_source import BinaryGraph, BinaryMetaGraph
from tfdbg_cli.formats.graph_files.file_kind import LOOKED_AT, FileKind, binary_kind, text_kind
from tfdbg_cli.formats.graph_files.held_graph import HeldGraph
from tfdbg_cli.formats.graph_files.mended import ByteSpan, Damages, fields
from tfdbg_cli.formats.graph_files.meta_graph import MetaGraph, graph_with_functions
from tfdbg_cli.formats.graph_files.run_metadata import graphs_of_metadata
from tfdbg_cli.formats.graph_files.source import MetaSource
from tfdbg_cli.formats.graph_files.text_source import TextGraph, TextMetaGraph
from tfdbg_cli.formats.messages.text_blocks import TextBlocks, TextDamageError
from tfdbg_cli.formats.messages.wire import BYTES
from tfdbg_cli.formats.recording.regular_file import opened, read_whole
from tfdbg_cli.formats.recording.unreadable import cannot_read

_LARGEST = (1 << 31) - 1  # bytes of a message of protobuf
_LARGEST_TEXT = 1 << 29
_META_GRAPHS = 2  # field of SavedModel
_AGAIN = "Copy it again from where it was written, or write it again."


def kind_of(path: Path) -> FileKind | None:
    """What the file at `path` holds; None where it is no such file, or cannot be read."""
    try:
        with opened(path) as (file, _):
            beginning = file.read(LOOKED_AT)
    except OSError:
        return None
    return text_kind(beginning) or binary_kind(beginning)


def held_graphs(path: Path) -> tuple[FileKind, list[HeldGraph]]:
    """What the file at `path` is, and its graphs.

    Raises:
        TfdbgError: it cannot be read, or holds none.

    """
    try:
        kind, is_text = _told(path)
        data = read_whole(path, _LARGEST_TEXT if is_text else _LARGEST)
    except OSError as error:
        raise cannot_read(path, error) from None
    name = path.name
    if is_text:
        return kind, _of_text(kind, data, path)
    whole = ByteSpan(0, len(data))
    if kind is FileKind.GRAPH:
        return kind, graph_with_functions(f"graph of {name}", BinaryGraph(data, whole), name)
    if kind is FileKind.RUN_METADATA:
        return kind, graphs_of_metadata(data, name)
    damages = Damages(name)
    spans = [whole] if kind is FileKind.META_GRAPH else list(_meta_graphs(data, damages))
    metas: list[MetaSource] = [BinaryMetaGraph(data, span, damages) for span in spans]
    return kind, _of_metas(metas, path, damages)


def _told(path: Path) -> tuple[FileKind, bool]:
    """The kind of the file, and whether it is a text."""
    with opened(path) as (file, size):
        beginning = file.read(LOOKED_AT)
    if not size:
        raise TfdbgError(f"The file {path} is empty.", hint=_AGAIN)
    if text := text_kind(beginning):
        return text, True
    if binary := binary_kind(beginning):
        return binary, False
    raise TfdbgError(
        f"{path} holds no graph from its first byte on: it is damaged, or another program's.", hint=_AGAIN
    )


def _meta_graphs(data: bytes, damages: Damages) -> Iterator[ByteSpan]:
    for part in fields(data, ByteSpan(0, len(data)), "the SavedModel", damages):
        if part.number == _META_GRAPHS and part.wire == BYTES:
            yield ByteSpan.of(part)


def _of_text(kind: FileKind, data: bytes, path: Path) -> list[HeldGraph]:
    try:
        text = TextBlocks(data)
    except TextDamageError as error:
        message = f"{path.name}: the text cannot be read at byte {error.offset:,} ({error.place}): {error}."
        raise TfdbgError(message, hint=_AGAIN) from None
    if kind is FileKind.GRAPH:
        return graph_with_functions(f"graph of {path.name}", TextGraph(text, None), path.name)
    if kind is FileKind.RUN_METADATA:
        hint = "Write it with SerializeToString: tfdbg reads it so."
        raise TfdbgError(f"{path} is a RunMetadata as text.", hint=hint)
    blocks = [None] if kind is FileKind.META_GRAPH else [one for one in text.inside() if one.field == "meta_graphs"]
    return _of_metas([TextMetaGraph(text, block) for block in blocks], path, Damages(path.name))


def _of_metas(metas: list[MetaSource], path: Path, damages: Damages) -> list[HeldGraph]:
    found = [held for source in metas for held in MetaGraph(source, path.name, damages).graphs()]
    if not found:
        raise TfdbgError(" ".join([f"{path} holds no graph.", *damages.told()]), hint=_AGAIN)
    return found
