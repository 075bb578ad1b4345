"""The heads of very many events at once, as columns: executions, and traces of graphs.

An event that is written in an unusual way is parsed, and written anew as all others are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdbg_cli.formats.event_sets.times import all_seconds
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.field_columns import FieldColumns
from tfdbg_cli.formats.messages.framed_records import FramedRecords
from tfdbg_cli.formats.messages.packed_numbers import NumberLists, unpacked
from tfdbg_cli.formats.messages.wire import BYTES, FIXED64, VARINT
from tfdbg_cli.model.values import Array

# Field numbers are those of tensorflow/core/protobuf/debug_event.proto.
EXECUTION, TRACE = 9, 10
WALL_TIME, _STEP = 1, 2
EXECUTION_WIRES = {1: BYTES, 2: VARINT, 3: BYTES, 4: BYTES, 5: BYTES, 6: VARINT, 7: BYTES, 8: BYTES, 9: BYTES}
EXECUTION_PROTOS = 7
_LONGEST = 256  # bytes of a text that is compared with others
_ODD = np.uint64(0x9E3779B97F4A7C15)  # a factor that spreads what is added up over all bits
TRACE_WIRES = {1: BYTES, 2: BYTES, 3: VARINT, 4: VARINT, 5: BYTES, 6: BYTES}


def event_wires(what: int) -> Mapping[int, int]:
    """The fields of an event that tells of `what` alone."""
    return {WALL_TIME: FIXED64, _STEP: VARINT, what: BYTES}


@dataclass(frozen=True, slots=True)
class ExecutionHeads:
    """Some executions: where the record of each begins and when it ended, texts as places in the list of texts."""

    offsets: Array
    times: Array
    op_types: Array
    graph_ids: Array
    read: NumberLists
    gave: NumberLists
    devices: NumberLists


@dataclass(frozen=True, slots=True)
class TraceHeads:
    """Some traces: where the record of each begins, its time, and by which key its tensor is told from others."""

    offsets: Array
    times: Array
    keys: list[tuple[str, str, int, str]]


class Texts:
    """Equal texts once, by their place in `known`."""

    def __init__(self) -> None:
        self.known: list[str] = []
        self._places: dict[bytes, int] = {}

    def places(self, content: bytes, octets: Array, begins: Array, ends: Array) -> Array:
        """The texts that stand in `content`, which are `octets`. Raises UnicodeDecodeError where one is no text."""
        lengths = ends - begins
        found = np.empty(len(begins), np.int32)
        for length in np.unique(lengths).tolist():
            rows = np.flatnonzero(lengths == length)
            first = which = np.arange(len(rows))
            if length <= _LONGEST:
                first, which = _alike(octets[begins[rows][:, None] + np.arange(length)])
            texts = [content[begin : begin + length] for begin in begins[rows[first]].tolist()]
            found[rows] = np.array(list(map(self._place, texts)), np.int32)[which]
        return found

    def _place(self, text: bytes) -> int:
        number = self._places.get(text)
        if number is None:
            self.known.append(text.decode())
            number = self._places[text] = len(self.known) - 1
        return number


def _alike(rows: Array) -> tuple[Array, Array]:
    """Of rows of bytes those to look at, and which of them each is like. Nearly all are like one before them.

    They are told apart by a sum. Where two that differ have the same, each row is one to look at.
    """
    weights = np.power(_ODD, np.arange(1, rows.shape[1] + 1, dtype=np.uint64))
    _, first, which = np.unique((rows * weights).sum(axis=1, dtype=np.uint64), return_index=True, return_inverse=True)
    which = which.reshape(-1)
    if (rows != rows[first[which]]).any():
        return np.arange(len(rows)), np.arange(len(rows))
    return first, which


def execution_heads(some: FramedRecords, texts: Texts) -> tuple[ExecutionHeads, int]:
    """The executions that `some` records tell of, and how many of those are none."""

    def read(content: bytes, octets: Array, offsets: Array, begins: Array, ends: Array) -> ExecutionHeads | Array:
        events = FieldColumns(octets, begins, ends, event_wires(EXECUTION))
        heads = FieldColumns(
            octets, *events.places(EXECUTION), EXECUTION_WIRES, repeated=frozenset({EXECUTION_PROTOS})
        )
        odd = events.odd | ~events.has(EXECUTION) | heads.odd
        lists = []
        for number in (4, 5, 9):
            found, wrong = unpacked(octets, *_unless(odd, *heads.places(number)))
            lists.append(found)
            odd |= wrong
        if odd.any():
            return odd
        inputs, outputs, devices = lists
        # Outputs and devices have 32 bits.
        return ExecutionHeads(
            offsets, all_seconds(events.doubles(WALL_TIME)),
            texts.places(content, octets, *heads.places(1)), texts.places(content, octets, *heads.places(3)),
            inputs, outputs.shortened(heads.numbers(2).astype(np.int32)),
            NumberLists(devices.flat.astype(np.int32), devices.ends),
        )  # fmt: skip

    return _read(some, read, lambda event: {"execution": event.execution})


def trace_heads(some: FramedRecords) -> tuple[TraceHeads, int]:
    """The traces that `some` records tell of, and how many of those are none."""

    def read(content: bytes, octets: Array, offsets: Array, begins: Array, ends: Array) -> TraceHeads | Array:
        events = FieldColumns(octets, begins, ends, event_wires(TRACE))
        heads = FieldColumns(octets, *events.places(TRACE), TRACE_WIRES)
        odd = events.odd | ~events.has(TRACE) | heads.odd
        if odd.any():
            return odd
        texts = Texts()
        graphs, names, devices = (
            texts.places(content, octets, *heads.places(number)).tolist() for number in (1, 2, 6)
        )
        slots = np.maximum(heads.numbers(3).astype(np.int32), 0).tolist()
        known = texts.known
        keys = [
            (known[graph], known[name], slot, known[device])
            for graph, name, slot, device in zip(graphs, names, slots, devices, strict=True)
        ]
        return TraceHeads(offsets, all_seconds(events.doubles(WALL_TIME)), keys)

    return _read(some, read, lambda event: {"graph_execution_trace": event.graph_execution_trace})


def _unless(odd: Array, begins: Array, ends: Array) -> tuple[Array, Array]:
    """The stretches, empty where nobody knows them."""
    return np.where(odd, 0, begins), np.where(odd, 0, ends)


def _read(some: FramedRecords, read: Callable[..., Any], only: Callable[[Any], dict[str, Any]]) -> tuple[Any, int]:
    """What `read` makes of the records; where it says that some are odd, of those as protobuf writes them."""
    try:
        found = read(some.content, some.octets, some.offsets, *some.spans)
        return (found, 0) if not isinstance(found, np.ndarray) else _rewritten(some, found, read, only)
    except UnicodeDecodeError:  # a text is none: nobody knows in which of them, and protobuf refuses it
        return _rewritten(some, np.ones(len(some), bool), read, only)


def _rewritten(
    some: FramedRecords, odd: Array, read: Callable[..., Any], only: Callable[[Any], dict[str, Any]]
) -> tuple[Any, int]:
    """What `read` makes of the records, of which the `odd` are as protobuf writes them, and how many it refuses."""
    offsets: list[int] = []
    messages: list[bytes] = []
    for (offset, content), is_odd in zip(some.records(), odd.tolist(), strict=True):
        if is_odd:
            try:
                event = schema.EventHead.FromString(content)
            except schema.DecodeError:
                continue
            event.DiscardUnknownFields()
            content = schema.EventHead(wall_time=event.wall_time, **only(event)).SerializeToString()
        offsets.append(offset)
        messages.append(content)
    ends = np.cumsum([len(message) for message in messages], dtype=np.int64)
    begins = ends - np.array([len(message) for message in messages], np.int64)
    content = b"".join(messages)
    found = read(content, np.frombuffer(content, np.uint8), np.array(offsets, np.int64), begins, ends)
    if isinstance(found, np.ndarray):
        raise AssertionError("protobuf wrote what nobody reads")
    return found, len(some) - len(offsets)
