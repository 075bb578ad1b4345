"""Writing what TensorFlow's own dumps lack: call, feeds, error, tracebacks, sources and the program's graph."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tfdbg_cli.formats.dumps import case_layout as layout
from tfdbg_cli.formats.dumps.graph_files import GraphFiles, graph_files
from tfdbg_cli.formats.messages.event_file import write_tensor
from tfdbg_cli.formats.recording.call_fields import call_fields, exactness_fields, profile_fields
from tfdbg_cli.formats.recording.json_fields import json_bytes
from tfdbg_cli.formats.recording.writing import PRIVATE_FOLDER, whole_directory
from tfdbg_cli.model.calls import Call
from tfdbg_cli.model.ignored import IgnoredPlace
from tfdbg_cli.model.names import parse_tensor_name
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import NoValue, as_array


def add_case_files(directory: Path, run: Run, shared: GraphFiles | None = None) -> None:
    """Add to the dump in `directory`, of which `run` was read, what TensorFlow did not write.

    An earlier addition is replaced. `shared` are the files that were made of the run's graph before.

    Raises:
        TfdbgError: the disk is full or the folder cannot be written to; the dump is then as it was.

    """
    final = directory / layout.CASE_DIRECTORY
    with suppress(OSError):  # a file system without modes
        directory.chmod(PRIVATE_FOLDER)
    with whole_directory(final) as place:
        timed = len(run.tensors) == 0 or run.tensors[0].time_us is not None
        write_case(place, run, shared or graph_files(run), final, timed=timed)


def write_case(
    place: Path,
    run: Run,
    shared: GraphFiles,
    final: Path,
    *,
    timed: bool,
    lacks: Mapping[str, NoValue] | None = None,
    tensors: Mapping[str, Any] | None = None,
) -> None:
    """Write the files of case_layout.py for `run` into the empty folder `place`, which is going to be `final`.

    `shared` are those that come from its graph alone. `lacks` tells, by the path of a file in the dump, why the
    tensor in it has no array, `tensors` which files there are (`case_tensors`; None: not known).

    Raises:
        OSError: a file cannot be written.

    """
    shared.write(place, final)
    if run.profile is not None:
        _write_json(place / layout.PROFILE, profile_fields(run.profile))
    _write_json(
        place / layout.CASE,
        {
            "format": layout.FORMAT,
            "graph": run.graph.kind,
            "timed": timed,
            "call": _call(run.call, place / layout.FEEDS),
            "error": None if run.error is None else asdict(run.error),
            "notes": list(run.notes),
            "lacks": {path: [value.lack, value.text] for path, value in (lacks or {}).items()},
            "sources": dict(shared.sources),
            "unfinished": run.unfinished,
            "no_replay": run.no_replay,
            "exactness": exactness_fields(run.exactness),
            "parts": [part for part in sorted(layout.PARTS) if _is_filled(place / part)],
            "tensors": tensors,
            "ignored": [_ignored(place) for place in run.ignored],
        },
    )


def _write_json(path: Path, fields: Mapping[str, Any]) -> None:
    path.write_bytes(json_bytes(fields))


def _ignored(place: IgnoredPlace) -> dict[str, Any]:
    fields = asdict(replace(place, looks_at=None))  # which means something in this process alone
    del fields["looks_at"]
    return {**fields, "tensor": str(place.tensor)}


def _call(call: Call, directory: Path) -> dict[str, Any]:
    return {
        **call_fields(call),
        "feeds": [
            {"name": name, "kept": _write_feed(directory, index, name, value)}
            for index, (name, value) in enumerate(call.feeds.items())
        ],
    }


def _write_feed(directory: Path, index: int, name: str, value: Any) -> bool:
    """Write a fed value, unless it is nothing that an array can hold (a sparse tensor, an unknown object)."""
    if value is None or isinstance(value, NoValue):
        return False
    tensor = parse_tensor_name(name)
    watch = f"{tensor or f'{name}:0'}:DebugIdentity"
    directory.mkdir(exist_ok=True)
    path = directory / str(index)
    try:
        with path.open("wb") as file:
            write_tensor(file, as_array(value), watch, "", 0)
    except (ValueError, TypeError):
        path.unlink()
        return False
    return True


def _is_filled(part: Path) -> bool:
    """Whether the file is there, and not that of a graph of no nodes."""
    return part.exists() and part.stat().st_size > 0
