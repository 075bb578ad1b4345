"""Where nodes were made, as a program tells a debug server: creation stacks, and the text of its files."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Mapping, Sequence

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.streamed.known_graphs import host_of
from tfdbg_cli.formats.streamed.pieces import DamagedEventError
from tfdbg_cli.model.sources import Frame, Sources, Traceback

_MOST_BYTES = 1 << 27  # of all files, and of all stacks
_MOST_GRAPHS = 16


class SentSources:
    """Files as they were sent. None is read from the disk here: it may be another machine's."""

    def __init__(self, files: Mapping[str, Sequence[str]]) -> None:
        self._files = files

    def lines(self, path: str) -> Sequence[str] | None:
        return self._files.get(path)


class ToldCode:
    """What programs told of their code, by the host that they are on. Used by several threads."""

    def __init__(self) -> None:
        self._tracebacks: deque[tuple[str, Mapping[str, Traceback], int]] = deque(maxlen=_MOST_GRAPHS)
        self._files: dict[str, dict[str, Sequence[str]]] = {}
        self._taken = 0
        self._lock = threading.Lock()

    def hear_tracebacks(self, peer: str, message: bytes) -> None:
        """Take in a CallTraceback.

        Raises:
            DamagedEventError: the bytes are none.

        """
        try:
            told = schema.CallTraceback.FromString(message).graph_traceback
        except schema.DecodeError:
            raise DamagedEventError("that is no CallTraceback") from None
        words = {entry.key: entry.value for entry in told.id_to_string}
        found: dict[str, Traceback] = {}
        for entry in told.log_entries:
            frames = [
                Frame(words.get(one.file_id, ""), max(one.lineno, 0), words.get(one.function_id, ""))
                for one in entry.code_def.traces
            ]  # the text of a line is always "none": sources tell it
            if frames:
                found[entry.name] = tuple(frames)
        with self._lock:
            self._tracebacks.appendleft((host_of(peer), found, len(message)))
            while sum(size for _, _, size in self._tracebacks) > _MOST_BYTES:
                self._tracebacks.pop()

    def hear_sources(self, peer: str, message: bytes) -> None:
        """Take in DebuggedSourceFiles; of more than there is room for, none.

        Raises:
            DamagedEventError: the bytes are none.

        """
        try:
            told = schema.DebuggedSourceFiles.FromString(message)
        except schema.DecodeError:
            raise DamagedEventError("that are no DebuggedSourceFiles") from None
        with self._lock:
            if self._taken + len(message) > _MOST_BYTES:
                self._files, self._taken = {}, 0
            self._taken += len(message)
            files = self._files.setdefault(host_of(peer), {})
            for file in told.source_files:
                files[file.file_path] = tuple(file.lines)

    def of(self, peer: str, nodes: Collection[str]) -> tuple[Mapping[str, Traceback], Sources]:
        """The stacks of the program of `peer` that tell most of `nodes`, and its files."""
        host = host_of(peer)
        with self._lock:
            told = [stacks for place, stacks, _ in self._tracebacks if place == host]
            files = dict(self._files.get(host, {}))
        best = max(told, key=lambda stacks: sum(name in stacks for name in nodes), default={})
        return (best if any(name in best for name in nodes) else {}), SentSources(files)
