"""A GraphDef in a file, without what is damaged in it, and sentences that say what that was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.wire import BYTES, DamagedMessageError, WireField, parts

NODE, LIBRARY = 1, 2  # fields of GraphDef
FUNCTION = 1  # of FunctionDefLibrary
_MOST_TOLD = 5


@dataclass(frozen=True)
class ByteSpan:
    """Where a message lies in a file, from byte `start` to `end`."""

    start: int
    end: int

    @classmethod
    def of(cls, part: WireField) -> ByteSpan:
        """Where the value of a field lies."""
        return cls(part.start, part.end)


class Damages:
    """What is wrong with a file called `name`, in sentences; of very many the first few."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._texts: list[str] = []
        self._more = 0

    def __bool__(self) -> bool:
        return bool(self._texts)

    def add(self, what: str, offset: int, reason: str, place: str = "") -> None:
        """Note that `what` cannot be read at a byte of the file; of a text `place` says where editors show it."""
        where = f"byte {offset:,} ({place})" if place else f"byte {offset:,}"
        self.note(f"{what} at {where} cannot be read: {reason}")

    def note(self, text: str) -> None:
        """Note what is wrong, in a sentence without its full stop."""
        if len(self._texts) < _MOST_TOLD:
            self._texts.append(f"{self._name}: {text}.")
        else:
            self._more += 1

    def told(self) -> list[str]:
        """The sentences."""
        more = [f"{self._name}: as much is wrong in {self._more:,} more places."] if self._more else []
        return [*self._texts, *more]


def fields(data: bytes, span: ByteSpan, what: str, damages: Damages) -> Iterator[WireField]:
    """The fields of the message `what` in `data`, as far as they make sense."""
    try:
        for part in parts(data, span.start, span.end):
            if part.cut:
                damages.add(what, part.at, "it is cut off there")
            yield part
    except DamagedMessageError as error:
        damages.add(what, error.offset, str(error))


def mended_graph(data: bytes, span: ByteSpan, damages: Damages) -> bytes:
    """The GraphDef in `data`, without the nodes that cannot be read, and without its library if that is damaged."""
    content = data[span.start : span.end]
    if _is_whole(content):
        return content
    kept = []
    for part in fields(data, span, "the graph", damages):
        inner = data[part.start : part.end]
        if part.number == NODE and part.wire == BYTES:
            reason = _unreadable(inner)
            if reason and not part.cut:  # that it is cut off is told
                damages.add("a node", part.at, reason)
            if reason:
                continue
        elif part.number == LIBRARY or part.cut:
            continue
        kept.append(data[part.at : part.start] + inner if not part.cut else _node(inner))
    mended = b"".join(kept)
    return mended if _is_whole(mended) else b""


def _is_whole(content: bytes) -> bool:
    try:
        schema.GraphDef.FromString(content)
    except schema.DecodeError:
        return False
    return True


def _node(content: bytes) -> bytes:
    serialized: bytes = schema.GraphDef(node=[schema.NodeDef.FromString(content)]).SerializeToString()
    return serialized


def _unreadable(content: bytes) -> str:
    """Why the bytes are no NodeDef; empty where they are one."""
    try:
        node = schema.NodeDef.FromString(content)
    except schema.DecodeError:
        return "the bytes are no node"
    return "" if node.name else "it has no name"


def functions_in(data: bytes, graph: ByteSpan, damages: Damages) -> Iterator[ByteSpan]:
    """Where the functions of the graph's library lie."""
    for part in _quiet(data, graph):
        if part.number == LIBRARY and part.wire == BYTES:
            for one in fields(data, ByteSpan.of(part), "the library of functions", damages):
                if one.number == FUNCTION and one.wire == BYTES:
                    yield ByteSpan.of(one)


def _quiet(data: bytes, span: ByteSpan) -> Iterator[WireField]:
    """The fields of a message of whose damages somebody else tells."""
    try:
        yield from parts(data, span.start, span.end)
    except DamagedMessageError:
        return
