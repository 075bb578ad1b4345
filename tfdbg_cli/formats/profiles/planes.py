"""The parts of a profile (XSpace): planes, which are hosts and accelerators, their lines, and the events on those.

A profile may be hundreds of megabytes. It is walked field by field, events are found without being parsed, and what
lies behind a damaged part is read as far as it makes sense.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tfdbg_cli.formats.graph_files.mended import ByteSpan, Damages, fields
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.wire import BYTES, DamagedMessageError, WireField, parts

_PLANE, _ERROR, _WARNING, _HOST = 1, 2, 3, 4  # fields of XSpace
_NAME, _LINE, _EVENT_METADATA, _STAT_METADATA = 2, 3, 4, 5  # of XPlane
_EVENT = 4  # of XLine
_EVENT_KEY = _EVENT << 3 | BYTES
_ID_KEY = 1 << 3  # of the first field of XEvent
_OF_METADATA = "/host:metadata"  # holds what XLA compiled, many megabytes of it, and no event
_MOST_TEXT = 300


@dataclass(frozen=True)
class ProfilePlane:
    """A host or an accelerator; the names of its events and their statistics are listed once."""

    name: str
    lines: tuple[ByteSpan, ...]
    events: Mapping[int, str]
    stats: Mapping[int, str]
    event_stats: Mapping[int, Any]  # statistics that all events of one name share

    @property
    def is_accelerator(self) -> bool:
        return self.name.startswith("/device:")

    def statistic(self, stats: Iterable[Any], wanted: str) -> str:
        """The one of `stats` that is called `wanted`, as text; empty where there is none."""
        for stat in stats:
            if self.stats.get(stat.metadata_id) == wanted:
                which = stat.WhichOneof("value")
                if which == "ref_value":
                    return self.stats.get(stat.ref_value, "")
                value = getattr(stat, which) if which else ""
                return text_of(value) if isinstance(value, bytes) else str(value)
        return ""


@dataclass
class Space:
    """What stands beside the planes: the hosts, and what the profiler itself says went wrong."""

    planes: list[WireField] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def space_of(data: bytes, damages: Damages) -> Space:
    """Where the planes of the profile lie."""
    found = Space()
    for part in _of_space(data, damages):
        if part.wire == BYTES and part.number == _PLANE:
            found.planes.append(part)
        elif part.wire == BYTES and part.number in (_ERROR, _WARNING):
            found.said.append(text_of(data[part.start : min(part.end, part.start + _MOST_TEXT)]))
        elif part.wire == BYTES and part.number == _HOST:
            found.hosts.append(text_of(data[part.start : min(part.end, part.start + _MOST_TEXT)]))
    return found


def _of_space(data: bytes, damages: Damages) -> Iterator[WireField]:
    """The fields of the profile. A plane is nearly all of a file: where one is cut off is told by its end."""
    try:
        for part in parts(data):
            if part.cut:
                damages.add("the profile", part.end, "it is cut off there")
            yield part
    except DamagedMessageError as error:
        damages.add("the profile", error.offset, str(error))


def plane_of(data: bytes, plane: WireField, damages: Damages) -> ProfilePlane | None:
    """The plane in that field, its events unread; None for one that never holds ops."""
    name = ""
    lines: list[ByteSpan] = []
    events: dict[int, str] = {}
    stats: dict[int, str] = {}
    event_stats: dict[int, Any] = {}
    for part in fields(data, ByteSpan.of(plane), "a plane", damages):
        if part.wire != BYTES:
            continue
        if part.number == _NAME:
            name = text_of(data[part.start : part.end])
            if name == _OF_METADATA:
                return None
        elif part.number == _LINE:
            lines.append(ByteSpan.of(part))
        elif part.number == _EVENT_METADATA and not part.cut:
            entry = _parsed("XEventEntry", data, part, "the name of an event", damages)
            events[entry.key] = text_of(entry.value.name)
            if entry.value.stats:
                event_stats[entry.key] = entry.value.stats
        elif part.number == _STAT_METADATA and not part.cut:
            entry = _parsed("XStatEntry", data, part, "the name of a statistic", damages)
            stats[entry.key] = text_of(entry.value.name)
    return ProfilePlane(name, tuple(lines), events, stats, event_stats)


def head_of(data: bytes, line: ByteSpan) -> Any:
    """The XLine at `line` without its events: its name, and when it begins. Who writes one puts these in front."""
    end = line.start
    try:
        for part in parts(data, line.start, line.end):
            if part.number == _EVENT or part.cut:
                break
            end = part.end
    except DamagedMessageError:
        pass  # told by those who walk the events
    try:
        return schema.CLASSES["XLine"].FromString(data[line.start : end])
    except schema.DecodeError:
        return schema.CLASSES["XLine"]()


def events_of(data: bytes, line: ByteSpan, damages: Damages) -> Iterator[tuple[int, int, int]]:
    """Of each event of a line the id of its name, and where it lies, from byte to byte.

    There may be many millions, most of which nobody wants: this is the loop that they cost.
    """
    at, stop = line.start, line.end
    while at < stop:
        if data[at] == _EVENT_KEY and at + 2 < stop and data[at + 1] < 0x80:
            start = at + 2
            end = start + data[at + 1]
        else:
            part = _other(data, at, stop, damages)
            if part is None:
                return
            at = part.end
            if part.number != _EVENT or part.wire != BYTES:
                continue
            start, end = part.start, part.end
        if end > stop:
            damages.add("a line of events", at, "it is cut off there")
            return
        at = end
        if end - start > 1 and data[start] == _ID_KEY and data[start + 1] < 0x80:
            yield data[start + 1], start, end
        else:
            event = event_at(data, start, end)
            if event is None:
                damages.add("an event", start, "the bytes are none")
            else:
                yield event.metadata_id, start, end


def event_at(data: bytes, start: int, end: int) -> Any:
    """The XEvent that lies there; None where the bytes are none."""
    try:
        return _XEVENT.FromString(data[start:end])
    except schema.DecodeError:
        return None


_XEVENT: Any = schema.CLASSES["XEvent"]


def text_of(raw: bytes) -> str:
    """The text, whatever the bytes are."""
    return raw.decode("utf-8", "replace")


def _parsed(message: str, data: bytes, part: WireField, what: str, damages: Damages) -> Any:
    try:
        return schema.CLASSES[message].FromString(data[part.start : part.end])
    except schema.DecodeError:
        damages.add(what, part.at, "the bytes are none")
        return schema.CLASSES[message]()


def _other(data: bytes, at: int, stop: int, damages: Damages) -> WireField | None:
    """The field at `at`, whatever it is; None where nothing follows that makes sense."""
    try:
        part = next(parts(data, at, stop))
    except DamagedMessageError as error:
        damages.add("a line of events", error.offset, str(error))
        return None
    if part.cut:
        damages.add("a line of events", part.at, "it is cut off there")
        return None
    return part
