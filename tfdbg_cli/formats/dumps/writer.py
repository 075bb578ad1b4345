"""A run held in memory as a v1 dump directory, which TensorFlow's own DebugDumpDir opens as well."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tfdbg_cli.formats.dumps import case_layout
from tfdbg_cli.formats.dumps.case_tensors import case_tensors_fields
from tfdbg_cli.formats.dumps.case_writer import write_case
from tfdbg_cli.formats.dumps.device_names import directory_of
from tfdbg_cli.formats.dumps.graph_files import GraphFiles, graph_files
from tfdbg_cli.formats.dumps.listing import (
    CORE_METADATA_PREFIX,
    FEED_KEYS_PREFIX,
    FETCHES_PREFIX,
    GRAPH_PREFIX,
    VALUE_OP,
    DumpFile,
)
from tfdbg_cli.formats.messages import schema, tensor_proto
from tfdbg_cli.formats.messages.event_file import write_tensor
from tfdbg_cli.formats.messages.graph_def import SavedGraph, partition_def
from tfdbg_cli.formats.recording.writing import refuse_existing, whole_directory
from tfdbg_cli.model.calls import Call
from tfdbg_cli.model.dtypes import element_type_named
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Tensor
from tfdbg_cli.model.values import Array, Lack, NoValue, Value

_NAME_MAX = 255  # bytes in one part of a path, on every file system that TensorFlow runs on


def write_dump(
    run: Run, directory: Path, start_us: int | None = None, shared: GraphFiles | None = None
) -> tuple[str, ...]:
    """Write `run` as the new dump directory `directory`; sentences about what had to be left out are returned.

    Tensors without times get those of their order, a microsecond apart, from `start_us` (default: now) on.
    `shared` are the files that were made of the run's graph before. The folder appears when it is complete.

    Raises:
        TfdbgError: there is something at `directory` already, the disk is full, or it cannot be written.

    """
    refuse_existing(directory)
    with whole_directory(directory) as place:
        return fill_dump(run, place, directory, start_us, shared)


def fill_dump(
    run: Run, place: Path, final: Path, start_us: int | None = None, shared: GraphFiles | None = None
) -> tuple[str, ...]:
    """Write what `write_dump` writes into the empty folder `place`, which is going to be `final`.

    Raises:
        OSError: a file cannot be written.

    """
    start = time.time_ns() // 1000 if start_us is None else start_us
    timed = all(run.tensors[index].time_us is not None for index in range(len(run.tensors)))
    writer = _DumpWriter(place, run.graph, start, timed)
    case = place / case_layout.CASE_DIRECTORY
    case.mkdir()
    for index in range(len(run.tensors)):
        writer.write(index, run.tensors[index], run.tensors.value(index))
    writer.write_graphs()
    _write_metadata(place, run.call, start)
    case_final = final / case_layout.CASE_DIRECTORY
    tensors = case_tensors_fields(writer.files, writer.others)
    write_case(case, run, shared or graph_files(run), case_final, timed=timed, lacks=writer.lacks, tensors=tensors)
    return writer.notes()


@dataclass
class _DumpWriter:
    """Writes tensors into `place` and remembers which node was dumped on which device.

    `files` are the paths of those in the dump, `others` the tensors whose names cannot be names of files.
    """

    place: Path
    graph: Graph
    start_us: int
    timed: bool
    lacks: dict[str, NoValue] = field(default_factory=dict)  # by path in the dump
    files: list[str] = field(default_factory=list)
    others: list[DumpFile] = field(default_factory=list)
    _used: dict[str, int] = field(default_factory=dict)
    _made: set[Path] = field(default_factory=set)
    _dumped: dict[str, set[str]] = field(default_factory=dict)
    _without_value: list[str] = field(default_factory=list)
    _unwritable: list[str] = field(default_factory=list)

    def write(self, index: int, tensor: Tensor, value: Value) -> None:
        serialized = _without_array(tensor, value) if isinstance(value, NoValue) else value
        dtype = "" if isinstance(value, NoValue) else _written_type(value, tensor.dtype)
        if serialized is None:
            self._without_value.append(str(tensor.name))
            return
        if dtype is None:
            self._unwritable.append(str(tensor.name))
            return
        name, debug_op = self._watched(tensor)
        time_us = tensor.time_us if self.timed and tensor.time_us is not None else self.start_us + index
        path = self._path(tensor.device, name, debug_op, time_us)
        if path.parent not in self._made:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(path.parent)
        with path.open("wb") as file:
            write_tensor(file, serialized, f"{name}:{debug_op}", tensor.device, time_us, dtype)
        if isinstance(value, NoValue):
            self.lacks[path.relative_to(self.place).as_posix()] = value
        self._dumped.setdefault(tensor.device, set()).add(name.node)

    def _watched(self, tensor: Tensor) -> tuple[TensorName, str]:
        """What a tensor is a dump of: itself, or a summary by a debug op of the tensor that it reads."""
        node = self.graph.find(tensor.node, tensor.device)
        if node is not None and node.op_type.startswith("Debug") and node.inputs:
            return node.inputs[0], node.op_type
        return tensor.name, VALUE_OP

    def _path(self, device: str, name: TensorName, debug_op: str, time_us: int) -> Path:
        """The file of a dump; one by number when the node's name cannot be a path inside of the dump."""
        parts = [directory_of(device), *name.node.split("/")]
        parts[-1] += f"_{name.slot}_{debug_op}_{time_us}"
        relative = "/".join(parts)
        repeat = self._used.get(relative, 0)
        self._used[relative] = repeat + 1
        if repeat:
            parts[-1] += f"-{repeat}"
        if not all(map(_is_file_name, parts)):
            path = self.place / case_layout.CASE_DIRECTORY / case_layout.OTHERS / str(len(self.others))
            self.others.append(DumpFile(time_us, repeat, name.node, name.slot, debug_op, device, str(path)))
            return path
        self.files.append("/".join(parts))
        return self.place.joinpath(*parts)

    def write_graphs(self) -> None:
        parts = dict(self.graph.parts) if isinstance(self.graph, SavedGraph) else {}
        for device in parts.keys() | self._dumped.keys():
            names = self._dumped.get(device, set())
            if device not in parts:
                elsewhere = set().union(*(found for other, found in self._dumped.items() if other != device))
                names = names | {node.name for node in self.graph if node.device == device} - elsewhere
                serialized = partition_def(self.graph, names, device)
            else:
                serialized = parts[device]
            if not device and not names:
                continue
            folder = self.place / directory_of(device)
            folder.mkdir(exist_ok=True)
            event = schema.Event(wall_time=float(self.start_us), graph_def=serialized)
            (folder / f"{GRAPH_PREFIX}hash0_{self.start_us}").write_bytes(event.SerializeToString())

    def notes(self) -> tuple[str, ...]:
        left_out = (
            (self._without_value, "its value is not there", "their values are not there"),
            (self._unwritable, "TensorFlow has no type for its value", "TensorFlow has no types for their values"),
        )
        return tuple(
            f"1 tensor was not saved: {one} ({names[0]!r})."
            if len(names) == 1
            else f"{len(names)} tensors were not saved: {many} (first {names[0]!r})."
            for names, one, many in left_out
            if names
        )


def _is_file_name(part: str) -> bool:
    if part in {"", ".", ".."} or "\0" in part:
        return False
    try:
        return len(part.encode("utf-8", "surrogateescape")) <= _NAME_MAX
    except UnicodeEncodeError:
        return False


def _written_type(array: Array, dtype: str) -> str | None:
    """The element type to write `array` under: `dtype` if it fits, else the array's own; None without any."""
    for name in (dtype, ""):
        try:
            return tensor_proto.storable(array, name).name
        except ValueError:
            continue
    return None


def _without_array(tensor: Tensor, value: NoValue) -> bytes | None:
    """The TensorProto of a tensor that has no array but a type; None when there is nothing to say about it."""
    element = element_type_named(tensor.dtype)
    if element is None or value.lack not in {Lack.UNINITIALIZED, Lack.OPAQUE}:
        return None
    return tensor_proto.encode_head(element, tensor.shape)


def _write_metadata(place: Path, call: Call, start_us: int) -> None:
    fields: Mapping[str, object] = {
        "global_step": -1,
        "session_run_index": call.number - 1,
        "executor_step_index": 0,
        "input_names": sorted(call.feeds),
        "output_names": sorted({*call.fetches}),
        "target_nodes": sorted(call.targets),
    }
    index = max(call.number - 1, 0)
    _write_message(place / f"{CORE_METADATA_PREFIX}sessionrun{index:014d}_{start_us}", json.dumps(fields))
    write_call_names(place, call)


def write_call_names(place: Path, call: Call) -> None:
    """Write what `call` fetched and was fed into the dump `place`, as TensorFlow's dumping wrapper does.

    Raises:
        OSError: a file cannot be written.

    """
    _write_message(
        place / FETCHES_PREFIX, call.fetches_text or repr([*dict.fromkeys((*call.fetches, *call.targets))])
    )
    _write_message(place / FEED_KEYS_PREFIX, call.feed_keys_text or repr(list(call.feeds)))


def _write_message(path: Path, text: str) -> None:
    event = schema.Event()
    event.log_message.message = text.encode("utf-8", "backslashreplace").decode()
    path.write_bytes(event.SerializeToString())
