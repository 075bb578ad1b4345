"""Graphs and meta graphs in serialized form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tfdbg_cli.formats.graph_files.mended import ByteSpan, Damages, fields, functions_in, mended_graph
from tfdbg_cli.formats.graph_files.misfits import tell_repeated
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.graph_def import graph_from_def, parse_graph_def
from tfdbg_cli.formats.messages.tensor_proto import varint
from tfdbg_cli.formats.messages.wire import BYTES, first_part
from tfdbg_cli.model.graph import Graph, GraphKind

_GRAPH, _COLLECTION, _SIGNATURE = 2, 4, 5
_FIELDS = {"meta_info_def": 1, "object_graph_def": 7}


class BinaryGraph:
    """The GraphDef that lies in `data` at `span`."""

    def __init__(self, data: bytes, span: ByteSpan, kind: GraphKind = GraphKind.PYTHON) -> None:
        self._data = data
        self._span = span
        self._kind = kind

    def graph(self, damages: Damages) -> Graph:
        """The graph."""
        mended = mended_graph(self._data, self._span, damages)
        tell_repeated((node.name for node in parse_graph_def(mended).node), damages)
        return graph_from_def(mended, self._kind)

    def functions(self, damages: Damages) -> Mapping[str, Callable[[], Any]]:
        """By the name of each function in the graph's library, a call that parses it."""
        found: dict[str, Callable[[], Any]] = {}
        for span in functions_in(self._data, self._span, damages):
            name = _function_name(self._data, span)
            if name:
                found[name] = partial(_function, self._data, span)
            else:
                damages.add("a function", span.start, "it has no name")
        return found


def _function(data: bytes, span: ByteSpan) -> Any:
    try:
        return schema.FunctionDef.FromString(data[span.start : span.end])
    except schema.DecodeError as error:
        raise ValueError(f"The bytes from {span.start:,} on are no function.") from error


def _function_name(data: bytes, span: ByteSpan) -> str:
    """The name of a serialized FunctionDef, without parsing it."""
    signature = first_part(data, 1, span.start, span.end)
    name = None if signature is None else first_part(data, 1, signature.start, signature.end)
    return "" if name is None or name.wire != BYTES else data[name.start : name.end].decode("utf-8", "replace")


class BinaryMetaGraph:
    """The MetaGraphDef that lies in `data` at `span`."""

    def __init__(self, data: bytes, span: ByteSpan, damages: Damages) -> None:
        self._data = data
        self._found: dict[int, list[ByteSpan]] = {}
        for part in fields(data, span, "the meta graph", damages):
            if part.wire == BYTES:
                self._found.setdefault(part.number, []).append(ByteSpan.of(part))

    def graph_source(self, damages: Damages) -> BinaryGraph:
        """Its graph; one without nodes where it has none."""
        spans = self._found.get(_GRAPH)
        if not spans:
            damages.add("the meta graph", 0, "it holds no graph")
        return BinaryGraph(self._data, spans[-1] if spans else ByteSpan(0, 0))

    def message(self, field: str, message: str, damages: Damages) -> Any:
        """The message in one of its fields."""
        spans = self._found.get(_FIELDS[field], [])
        if not spans:
            return schema.CLASSES[message]()
        return _parsed(message, self._data[spans[-1].start : spans[-1].end], spans[-1].start, damages)

    def signatures(self, damages: Damages) -> Mapping[str, Any]:
        """Its SignatureDefs by name."""
        return self._entries(_SIGNATURE, "signature_def", damages)

    def collections(self, damages: Damages) -> Mapping[str, Any]:
        """Its CollectionDefs by name."""
        return self._entries(_COLLECTION, "collection_def", damages)

    def _entries(self, number: int, field: str, damages: Damages) -> Mapping[str, Any]:
        """The entries of the map that is the field with this number."""
        found: dict[str, Any] = {}
        for span in self._found.get(number, []):
            entry = self._data[span.start : span.end]
            framed = bytes([number << 3 | BYTES]) + varint(len(entry)) + entry
            found.update(getattr(_parsed("MetaGraphDef", framed, span.start, damages), field).items())
        return found


def _parsed(message: str, content: bytes, offset: int, damages: Damages) -> Any:
    try:
        return schema.CLASSES[message].FromString(content)
    except schema.DecodeError:
        damages.add(f"the {message}", offset, "the bytes are none")
        return schema.CLASSES[message]()
