"""Where the nodes of a run were made, or where the program called an op: read node by node when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tfdbg_cli.formats.event_sets.program import RecordedProgram
from tfdbg_cli.formats.event_sets.records import DamagedRecordError, RecordFile
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.model.sources import Traceback

RecordAt = tuple[RecordFile, int]  # a record: its file, and where it begins


class SavedTracebacks(Mapping[str, Traceback]):
    """Stacks by the names of nodes; `places` says which record tells of each: of its making, or of its execution."""

    def __init__(self, program: RecordedProgram, places: Mapping[str, RecordAt]) -> None:
        self._program = program
        self._places = places
        self._read: dict[str, Traceback] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, name: str) -> Traceback:
        if name not in self._read:
            self._read[name] = self._look_up(*self._places[name])
        return self._read[name]

    def _look_up(self, file: RecordFile, offset: int) -> Traceback:
        try:
            event = schema.DebugEvent.FromString(file.read(offset))
        except (DamagedRecordError, schema.DecodeError):
            return ()
        told = event.graph_op_creation if event.WhichOneof("what") == "graph_op_creation" else event.execution
        return self._program.traceback(told.code_location.stack_frame_ids)
