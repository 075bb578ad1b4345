"""The tensors of one stream: put together, decoded and held as long as there is room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfdbg_cli.formats.dumps.listing import DumpFile
from tfdbg_cli.formats.dumps.store import shown_name
from tfdbg_cli.formats.messages import tensor_proto
from tfdbg_cli.formats.streamed.pieces import DamagedEventError, Pieces, joined_tensor, read_label
from tfdbg_cli.formats.streamed.room import Room
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import parse_tensor_name
from tfdbg_cli.model.tensors import MemoryTensorStore, Shape, Tensor, nbytes_of
from tfdbg_cli.model.units import bytes_text, count_text
from tfdbg_cli.model.values import Lack, NoValue, Value

_ROW = 1024  # bytes that a tensor takes beside its elements
_LONGEST_TIME = float(1 << 62)


@dataclass(frozen=True, slots=True)
class _Sent:
    """A tensor that came whole, or of which no more is kept: its type, its shape and its value."""

    dtype: str
    shape: Shape | None
    nbytes: int | None
    value: Value


@dataclass
class _InPieces:
    """A tensor of which pieces came; `at` is its place among all, `taken` what they have of the room."""

    at: int
    pieces: Pieces[Any]
    taken: int = 0


@dataclass
class SentTensors:
    """What came, in that order. `room` is shared by all streams; `taken` is what this one has of it."""

    room: Room
    taken: int = 0
    crowded_out: int = 0  # tensors without values, since there was no room
    left_out: int = 0  # tensors of which not even that is kept
    _files: list[DumpFile] = field(default_factory=list)  # `path` is the place in `_sent`
    _sent: list[_Sent | None] = field(default_factory=list)
    _begun: dict[tuple[str, str, int, int], _InPieces] = field(default_factory=dict)

    def hear(self, event: Any, size: int) -> None:
        """Take in an Event that holds a tensor, or a piece of one; its message has `size` bytes.

        Raises:
            DamagedEventError: it makes no sense.

        """
        value = event.summary.value[0]
        label = read_label(value.metadata.plugin_data.content)
        node, mark, debug_op = value.node_name.rpartition(":")
        name = parse_tensor_name(node)
        if not mark or name is None or not debug_op:
            raise DamagedEventError(f"the tensor {value.node_name!r}")
        time_us = int(event.wall_time) if 0 <= event.wall_time < _LONGEST_TIME else 0
        if label.pieces == 1:
            at = self._row(DumpFile(time_us, 0, name.node, name.slot, debug_op, label.device, ""))
            if at is not None and self._take(size):
                self._keep(at, value.tensor, size)
            elif at is not None:
                self._crowd_out(at, value.tensor)
            return
        key = (label.device, value.node_name, time_us, label.pieces)
        begun = self._begun.get(key)
        if begun is None:
            at = self._row(DumpFile(time_us, 0, name.node, name.slot, debug_op, label.device, ""))
            if at is None:
                return
            begun = self._begun[key] = _InPieces(at, Pieces(label.pieces))
        kept = self._take(size)
        begun.taken += size * kept
        if begun.pieces.add(label.piece, value.tensor if kept else None):
            del self._begun[key]
            protos = begun.pieces.in_order
            if any(proto is None for proto in protos):
                self._crowd_out(begun.at, next((proto for proto in protos if proto is not None), value.tensor))
            else:
                self._keep(begun.at, joined_tensor(protos), begun.taken)

    def _row(self, file: DumpFile) -> int | None:
        """A new row for a tensor; None where there is no room for it."""
        if not self._take(_ROW + len(file.node)):
            self.left_out += 1
            return None
        at = len(self._files)
        self._files.append(file._replace(path=str(at)))
        self._sent.append(None)
        return at

    def _keep(self, at: int, proto: Any, taken: int) -> None:
        """Keep the value in `proto`, for whose message the room `taken` was had already."""
        value = tensor_proto.decode(proto)
        held = 0 if isinstance(value, NoValue) or 0 in value.strides else nbytes_of(value)  # few stand for many there
        if not self._take(max(held - taken, 0)):
            self._crowd_out(at, proto)
            return
        nbytes = None if isinstance(value, NoValue) else nbytes_of(value)
        self._sent[at] = _Sent(element_type(proto.dtype).name, _shape(proto), nbytes, value)

    def _crowd_out(self, at: int, proto: Any) -> None:
        self.crowded_out += 1
        why = f"This tensor was not kept: all that came takes more than {bytes_text(self.room.size)} (memory_budget)."
        self._sent[at] = _Sent(element_type(proto.dtype).name, _shape(proto), None, NoValue(Lack.GONE, why))

    def _take(self, nbytes: int) -> bool:
        if not self.room.take(nbytes):
            return False
        self.taken += nbytes
        return True

    def release(self) -> None:
        """Give back the room; nobody looks at the values any more."""
        self.room.give_back(self.taken)
        self.taken = 0

    def absorb(self, other: SentTensors) -> None:
        """Take over what came whole of `other`, which goes on without it."""
        begun = {one.at: one for one in other._begun.values()}
        moved = [at for at in range(len(other._files)) if at not in begun]
        for at in moved:
            self._files.append(other._files[at]._replace(path=str(len(self._files))))
            self._sent.append(other._sent[at])
        left = sorted(begun)
        rows = [other._files[at]._replace(path=str(place)) for place, at in enumerate(left)]
        for place, at in enumerate(left):
            begun[at].at = place
        other._files, other._sent = rows, [None] * len(rows)
        staying = sum(one.taken + _ROW + len(rows[one.at].node) for one in begun.values())
        self.taken, other.taken = self.taken + other.taken - staying, staying
        self.crowded_out, other.crowded_out = self.crowded_out + other.crowded_out, 0
        self.left_out, other.left_out = self.left_out + other.left_out, 0

    @property
    def files(self) -> list[DumpFile]:
        """What came, as files of a dump would have it, for those who order and examine these."""
        return list(self._files)

    def notes(self) -> Iterator[str]:
        """Sentences about what is missing."""
        if self._begun:
            first = self._files[next(iter(self._begun.values())).at]
            parts = count_text(len(self._begun), "tensor")
            yield f"Of {parts} not all pieces came (first {f'{first.node}:{first.slot}'!r})."
        if self.crowded_out or self.left_out:
            lost = self.crowded_out + self.left_out
            rows = f", {count_text(self.left_out, 'of them is', 'of them are')} not even listed" * bool(self.left_out)
            yield (
                f"{count_text(lost, 'tensor')} of this run came without room for {'its' if lost == 1 else 'their'} "
                f"values{rows}: what arrives may take {bytes_text(self.room.size)}. `config set memory_budget` raises"
                " that, at the next start of `tfdbg listen`."
            )

    def store(self, ordered: Sequence[DumpFile], graph: Graph) -> MemoryTensorStore:
        """The tensors in the order of `ordered`, which are the `files`."""
        rows: list[Tensor] = []
        values: list[Value] = []
        count: Counter[tuple[str, str, int, str]] = Counter()
        for file in ordered:
            sent = self._sent[int(file.path)] or _in_part(file, self._begun)
            name = shown_name(file)
            key = (file.device, file.node, file.slot, file.debug_op)
            node = graph.find(name.node, file.device) or graph.find(name.node)
            op_type = node.op_type if node else ""
            rows.append(
                Tensor(name, file.device, count[key], sent.dtype, sent.shape, sent.nbytes, file.time_us, op_type)
            )
            values.append(sent.value)
            count[key] += 1
        return MemoryTensorStore(rows, values)


def _in_part(file: DumpFile, begun: dict[tuple[str, str, int, int], _InPieces]) -> _Sent:
    one = next(each for each in begun.values() if each.at == int(file.path))
    why = f"Only {len(one.pieces.found)} of the {one.pieces.count} pieces of this tensor came."
    proto = next((piece for piece in one.pieces.in_order if piece is not None), None)
    dtype, shape = ("", None) if proto is None else (element_type(proto.dtype).name, _shape(proto))
    return _Sent(dtype, shape, None, NoValue(Lack.DAMAGED, why))


def _shape(proto: Any) -> Shape | None:
    shape = tensor_proto.shape_of(proto.tensor_shape)
    return None if shape is None or min(shape, default=0) < 0 else shape
