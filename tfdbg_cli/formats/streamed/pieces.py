"""Tensors and graphs put together again: gRPC takes no message of more than 4 MB, so large ones come in pieces."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from tfdbg_cli.errors import WRONG_CONTENT
from tfdbg_cli.formats.recording.json_fields import text, whole

Piece = TypeVar("Piece")
MOST_PIECES = 1 << 20  # of one tensor or graph: 4 TB


class DamagedEventError(ValueError):
    """An event makes no sense; the message is a part of a sentence."""


class Label(NamedTuple):
    """What stands beside the values of a tensor: where it was made, and which piece of it this is."""

    device: str
    pieces: int
    piece: int


class GraphPiece(NamedTuple):
    """A part of the GraphDef of one device; `key` is the same for all of them."""

    key: bytes
    device: str
    pieces: int
    piece: int
    content: bytes


@dataclass
class Pieces(Generic[Piece]):
    """Those pieces of one thing that have come."""

    count: int
    found: dict[int, Piece] = field(default_factory=dict)

    def add(self, place: int, piece: Piece) -> bool:
        """Put `piece` at `place`; whether all are there now. A place that is taken keeps what it has."""
        self.found.setdefault(place, piece)
        return len(self.found) == self.count

    @property
    def in_order(self) -> list[Piece]:
        """The pieces, one behind the other."""
        return [self.found[place] for place in sorted(self.found)]


def read_label(content: bytes) -> Label:
    """The label of a tensor.

    Raises:
        DamagedEventError: it is none.

    """
    try:
        fields = json.loads(content)
        label = Label(text(fields["device"]), whole(fields.get("numChunks", 1)), whole(fields.get("chunkIndex", 0)))
    except WRONG_CONTENT:
        raise DamagedEventError("without the name of a device") from None
    pieces = max(label.pieces, 1)
    if pieces > MOST_PIECES or label.piece >= pieces:
        raise DamagedEventError(f"the piece {label.piece} of {label.pieces}")
    return label._replace(pieces=pieces)


def read_graph_piece(content: bytes) -> GraphPiece:
    """The piece of a graph in an event: `HASH,DEVICE,MICROSECONDS|PIECE|PIECES|` and bytes of the GraphDef.

    Raises:
        DamagedEventError: it is none.

    """
    key, *rest = content.split(b"|", 3)
    try:
        place, count, body = int(rest[0]), int(rest[1]), rest[2]
        device = key.split(b",", 1)[1].rsplit(b",", 1)[0].decode()
    except (ValueError, IndexError):
        raise DamagedEventError("that is no piece of a graph") from None
    if not 0 <= place < count <= MOST_PIECES:
        raise DamagedEventError(f"the piece {place} of {count} of a graph")
    return GraphPiece(key, device, count, place, body)


def joined_tensor(protos: list[Any]) -> Any:
    """One TensorProto of those of all its pieces, in order."""
    first = protos[0]
    if len(protos) > 1:
        if first.tensor_content:
            first.tensor_content = b"".join(proto.tensor_content for proto in protos)
        for proto in protos[1:]:
            first.string_val.extend(proto.string_val)
    return first
