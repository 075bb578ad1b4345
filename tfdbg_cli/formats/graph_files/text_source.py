"""Graphs and meta graphs in protobuf's text format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

from tfdbg_cli.formats.graph_files.mended import Damages
from tfdbg_cli.formats.graph_files.misfits import tell_repeated
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.attribute_text import AttributeTexts
from tfdbg_cli.formats.messages.graph_nodes import tensor_name
from tfdbg_cli.formats.messages.text_blocks import TextBlock, TextBlocks, TextDamageError
from tfdbg_cli.model.graph import Graph, GraphKind, Node


class TextAttributes(Mapping[str, str]):
    """The attributes of the node that stands in a block, parsed when somebody looks; damaged ones are none."""

    __slots__ = ("_block", "_made", "_text")

    def __init__(self, text: TextBlocks, block: TextBlock) -> None:
        self._text = text
        self._block = block
        self._made: AttributeTexts | None = None

    @property
    def _parsed(self) -> AttributeTexts:
        if self._made is None:
            try:
                node = self._text.parsed(self._block, "NodeDef")
            except TextDamageError:
                node = schema.NodeDef()
            self._made = AttributeTexts(node)
        return self._made

    def __getitem__(self, name: str) -> str:
        return self._parsed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parsed)

    def __len__(self) -> int:
        return len(self._parsed)


class TextGraph:
    """The GraphDef that stands in a block; without one the whole text is it."""

    def __init__(self, text: TextBlocks, block: TextBlock | None) -> None:
        self._text = text
        self._block = block

    def graph(self, damages: Damages) -> Graph:
        """The graph."""
        if self._text.fault is not None:
            self._tell("the text", *self._text.fault, damages)
        if self._text.ended:
            self._tell("the text", len(self._text.text), self._text.ended, damages)
        return Graph(list(self._nodes(damages)), GraphKind.PYTHON)

    def _nodes(self, damages: Damages) -> Iterator[Node]:
        seen: Counter[str] = Counter()
        for block in self._text.inside(self._block):
            if block.field != "node":
                continue
            name = op_type = device = ""
            inputs = []
            for field, value in self._text.texts(block):
                if field == "input":
                    inputs.append(value)
                elif field == "name":
                    name = value
                elif field == "op":
                    op_type = value
                elif field == "device":
                    device = value
            if not name:
                self._tell("a node", block.start, "it has no name", damages)
                continue
            seen[name] += 1
            if seen[name] == 1:
                reads = tuple(tensor_name(text) for text in inputs if not text.startswith("^"))
                waits = tuple(text[1:] for text in inputs if text.startswith("^"))
                yield Node(name, op_type, device, reads, waits, TextAttributes(self._text, block))
        tell_repeated(seen.elements(), damages)

    def _tell(self, what: str, offset: int, reason: str, damages: Damages) -> None:
        damages.add(what, offset, reason, self._text.place(offset))

    def functions(self, damages: Damages) -> Mapping[str, Callable[[], Any]]:
        """By the name of each function in the graph's library, a call that parses it."""
        found: dict[str, Callable[[], Any]] = {}
        libraries = (block for block in self._text.inside(self._block) if block.field == "library")
        for block in (one for library in libraries for one in self._text.inside(library)):
            if block.field != "function":
                continue
            name = self._signature_name(block)
            if name:
                found[name] = partial(self._text.parsed, block, "FunctionDef")
            else:
                self._tell("a function", block.start, "it has no name", damages)
        return found

    def _signature_name(self, function: TextBlock) -> str:
        for block in self._text.inside(function):
            if block.field == "signature":
                return dict(self._text.texts(block)).get("name", "")
        return ""


class TextMetaGraph:
    """The MetaGraphDef that stands in a block; without one the whole text is it."""

    def __init__(self, text: TextBlocks, block: TextBlock | None) -> None:
        self._text = text
        self._block = block

    def graph_source(self, damages: Damages) -> TextGraph:
        """Its graph; one without nodes where it has none."""
        found = self._fields.get("graph_def")
        if found is None:
            damages.add("the meta graph", 0, "it holds no graph")
        return TextGraph(self._text, found[-1] if found else TextBlock("", 0, 0))

    def message(self, field: str, message: str, damages: Damages) -> Any:
        """The message in one of its fields."""
        found = self._fields.get(field)
        try:
            return self._text.parsed(found[-1], message) if found else schema.CLASSES[message]()
        except TextDamageError as error:
            damages.add(f"the {message}", error.offset, str(error), error.place)
            return schema.CLASSES[message]()

    def signatures(self, damages: Damages) -> Mapping[str, Any]:
        """Its SignatureDefs by name."""
        return self._entries("signature_def", "a signature", damages)

    def collections(self, damages: Damages) -> Mapping[str, Any]:
        """Its CollectionDefs by name."""
        return self._entries("collection_def", "a collection", damages)

    def _entries(self, field: str, what: str, damages: Damages) -> Mapping[str, Any]:
        """The entries of the map that is `field`; `what` says what each is."""
        found: dict[str, Any] = {}
        for block in self._fields.get(field, []):
            try:
                found.update(getattr(self._text.parsed(block, "MetaGraphDef", as_field=True), field).items())
            except TextDamageError as error:
                damages.add(what, error.offset, str(error), error.place)
        return found

    @cached_property
    def _fields(self) -> Mapping[str, list[TextBlock]]:
        found: dict[str, list[TextBlock]] = {}
        for block in self._text.inside(self._block):
            found.setdefault(block.field, []).append(block)
        return found
