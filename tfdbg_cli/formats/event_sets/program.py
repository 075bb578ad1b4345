"""The program behind an event set: stack frames, and its source files as they were when it ran."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from tfdbg_cli.formats.event_sets.listing import HostFiles
from tfdbg_cli.formats.event_sets.records import DamagedRecordError, RecordFile
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.model.sources import Frame, Traceback, is_library

_FILES_KEPT = 64


class RecordedProgram:
    """Stack frames by their id, and the lines of source files. Read when somebody asks."""

    def __init__(self, hosts: Sequence[HostFiles]) -> None:
        self._sources = [host.file("source_files") for host in hosts]
        self._stacks = [host.file("stack_frames") for host in hosts]
        self._paths: list[list[str]] = [[] for _ in hosts]
        self._places: dict[str, tuple[RecordFile, int]] = {}
        self._frames: dict[str, Frame] = {}
        self._lines: OrderedDict[str, Sequence[str] | None] = OrderedDict()
        self.damaged = 0

    def join(self, host: HostFiles) -> None:
        """Read what `host` writes, too."""
        self._sources.append(host.file("source_files"))
        self._stacks.append(host.file("stack_frames"))
        self._paths.append([])
        self._lines.clear()  # it may have what was looked for in vain

    def lines(self, path: str) -> Sequence[str] | None:
        """The lines of `path` as the program had it; None where the set does not hold it."""
        if path not in self._lines:
            self._lines[path] = self._read(path)
            if len(self._lines) > _FILES_KEPT:
                self._lines.popitem(last=False)
        return self._lines[path]

    def _read(self, path: str) -> Sequence[str] | None:
        self._look_for_files()
        if path not in self._places:
            return None
        file, offset = self._places[path]
        try:
            lines = schema.DebugEvent.FromString(file.read(offset)).source_file.lines
        except (DamagedRecordError, schema.DecodeError):
            return None
        return [line.rstrip("\r\n") for line in lines] or None

    def traceback(self, frame_ids: Sequence[str]) -> Traceback:
        """The frames called so; those that the set does not hold are left out."""
        if any(frame_id not in self._frames for frame_id in frame_ids):
            self._look_for_frames()
        return tuple(
            frame if is_library(frame.file) else replace(frame, text=self._text(frame))
            for frame in map(self._frames.get, frame_ids)
            if frame is not None
        )

    def _text(self, frame: Frame) -> str:
        lines = self.lines(frame.file)
        return lines[frame.line - 1].strip() if lines and 0 < frame.line <= len(lines) else ""

    def _look_for_files(self) -> None:
        for file, paths in zip(self._sources, self._paths, strict=True):
            for record in file.scan():
                path = ""
                try:
                    path = schema.EventHead.FromString(record.content).source_file.file_path
                except schema.DecodeError:
                    self.damaged += 1
                paths.append(path)
                if path:
                    self._places[path] = file, record.offset

    def _look_for_frames(self) -> None:
        self._look_for_files()
        for file, paths in zip(self._stacks, self._paths, strict=True):
            for record in file.scan():
                try:
                    told = schema.DebugEvent.FromString(file.read(record.offset)).stack_frame_with_id
                except (DamagedRecordError, schema.DecodeError):
                    self.damaged += 1
                    continue
                place = told.file_line_col
                if 0 <= place.file_index < len(paths) and paths[place.file_index]:
                    self._frames[told.id] = Frame(paths[place.file_index], place.line, place.func)
