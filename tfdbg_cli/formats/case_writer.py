"""Writing what TensorFlow's own dumps lack: call, feeds, error, tracebacks, sources and the program's graph."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any

from tfdbg_cli.formats import case_layout as layout
from tfdbg_cli.formats.event_file import write_tensor
from tfdbg_cli.formats.graph_def import graph_def_of
from tfdbg_cli.formats.writing import whole_directory
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.names import parse_tensor_name
from tfdbg_cli.model.runs import Call, Run
from tfdbg_cli.model.sources import Frame, Traceback
from tfdbg_cli.model.values import NoValue, as_array


def add_case_files(directory: Path, run: Run) -> None:
    """Add to the dump in `directory`, of which `run` was read, what TensorFlow did not write.

    An earlier addition is replaced.

    Raises:
        TfdbgError: the disk is full or the folder cannot be written to; the dump is then as it was.

    """
    with whole_directory(directory / layout.CASE_DIRECTORY) as place:
        write_case(place, run, timed=len(run.tensors) == 0 or run.tensors[0].time_us is not None)


def write_case(place: Path, run: Run, *, timed: bool, lacks: Mapping[str, NoValue] | None = None) -> None:
    """Write the files of case_layout.py for `run` into the empty folder `place`.

    `lacks` tells, by the path of a file in the dump, why the tensor in it has no array.

    Raises:
        OSError: a file cannot be written.

    """
    python_graph = run.graph if run.graph.kind is GraphKind.PYTHON else run.python_graph
    if python_graph is not None:
        (place / layout.PYTHON_GRAPH).write_bytes(graph_def_of(python_graph))
    tracebacks = dict(run.tracebacks)
    if tracebacks:
        _write_json(place / layout.TRACEBACKS, _traceback_table(tracebacks))
    if run.profile is not None:
        _write_json(place / layout.PROFILE, {"times": [astuple(time) for time in run.profile.times]})
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
            "sources": _write_sources(place / layout.SOURCES, run, tracebacks),
        },
    )


def _write_json(path: Path, fields: Mapping[str, Any]) -> None:
    # Plain ASCII: a name that is no valid UTF-8 comes back as it was.
    path.write_bytes(json.dumps(fields, separators=(",", ":")).encode("ascii"))


def _call(call: Call, directory: Path) -> dict[str, Any]:
    return {
        "number": call.number,
        "kind": call.kind,
        "fetches": list(call.fetches),
        "targets": list(call.targets),
        "thread": call.thread,
        "notes": list(call.notes),
        "feeds": [
            {"name": name, "kept": _write_feed(directory, index, name, value)}
            for index, (name, value) in enumerate(call.feeds.items())
        ],
    }


def _write_feed(directory: Path, index: int, name: str, value: Any) -> bool:
    """Write a fed value, unless it is nothing that an array can hold (a sparse tensor, an unknown object)."""
    if value is None:
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


def _write_sources(directory: Path, run: Run, tracebacks: Mapping[str, Traceback]) -> dict[str, str]:
    """Keep every file that a traceback names, whole; the result maps its path to the hash of its text."""
    hashes: dict[str, str] = {}
    for path in dict.fromkeys(frame.file for stack in tracebacks.values() for frame in stack):
        lines = run.sources.lines(path)
        if lines is None:
            continue
        text = "\n".join(lines).encode("utf-8", "surrogateescape")
        hashes[path] = hashlib.sha256(text).hexdigest()
        directory.mkdir(exist_ok=True)
        kept = directory / hashes[path]
        if not kept.exists():
            kept.write_bytes(text)
    return hashes


def _traceback_table(tracebacks: Mapping[str, Traceback]) -> dict[str, Any]:
    """The stacks of all nodes with every text, frame and stack once."""
    frames: dict[Frame, int] = {}
    stacks: dict[tuple[int, ...], int] = {}
    nodes: dict[str, int] = {}
    for name, stack in tracebacks.items():
        places = tuple([frames.setdefault(frame, len(frames)) for frame in stack])
        nodes[name] = stacks.setdefault(places, len(stacks))
    texts: dict[str, int] = {}

    def place(text: str) -> int:
        return texts.setdefault(text, len(texts))

    rows = [(place(frame.file), frame.line, place(frame.function), place(frame.text)) for frame in frames]
    return {"texts": list(texts), "frames": rows, "stacks": list(stacks), "nodes": nodes}
