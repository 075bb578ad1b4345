"""Reading what tfdbg added to a dump: small parts at once, sources and feeds when somebody looks."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tfdbg_cli.errors import WRONG_CONTENT
from tfdbg_cli.formats.dumps import case_layout as layout
from tfdbg_cli.formats.dumps.case_tensors import NOTHING_SAID, CaseTensors, read_case_tensors
from tfdbg_cli.formats.messages.event_file import read_tensor
from tfdbg_cli.formats.messages.graph_def import graph_from_def
from tfdbg_cli.formats.recording.call_fields import read_call, read_error, read_exactness, read_profile
from tfdbg_cli.formats.recording.json_fields import flag, items, text, texts, whole
from tfdbg_cli.formats.recording.regular_file import read_whole
from tfdbg_cli.formats.recording.traceback_table import read_tracebacks, source_lines
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.graph import Graph, GraphKind
from tfdbg_cli.model.ignored import IgnoredBy, IgnoredPlace
from tfdbg_cli.model.lazy_values import LazyValues
from tfdbg_cli.model.names import parse_tensor_name
from tfdbg_cli.model.profile import Profile
from tfdbg_cli.model.runs import RunOutline
from tfdbg_cli.model.sources import LostTracebacks, Sources, Traceback
from tfdbg_cli.model.values import Lack, NoValue

# Bytes that a file may have; a graph has as many as protobuf can read.
_LONGEST = {
    layout.CASE: 1 << 27,
    layout.TRACEBACKS: 1 << 28,
    layout.PROFILE: 1 << 28,
    layout.PYTHON_GRAPH: (1 << 31) - 1,
}
_OF_PARTS = {
    layout.PYTHON_GRAPH: "the program's own graph is not known",
    layout.TRACEBACKS: "where nodes were made is not known",
    layout.PROFILE: "the times of its nodes are not known",
}
_LONGEST_SOURCE = 1 << 26
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class SavedCase:
    """Everything in a case folder. `call` is None when case.json is damaged.

    `lacks` tells, by the path of a file in the dump, why the tensor in it has no array.
    """

    call: Call | None
    graph_kind: GraphKind
    timed: bool
    error: RunError | None
    notes: tuple[str, ...]
    python_graph: Graph | None
    tracebacks: Mapping[str, Traceback]
    sources: Sources
    profile: Profile | None
    lacks: Mapping[str, NoValue]
    ignored: tuple[IgnoredPlace, ...] = ()
    unfinished: bool = False
    exactness: Exactness | None = None
    tensors: CaseTensors = NOTHING_SAID
    no_replay: str = ""


def read_case(run_directory: Path, notes: list[str]) -> SavedCase | None:
    """The case folder of the dump in `run_directory`, or None without one. What is damaged is appended to `notes`."""
    root = run_directory / layout.CASE_DIRECTORY
    if not os.path.lexists(root):
        return None
    if not _is_plain_folder(root):
        notes.append(f"The folder {layout.CASE_DIRECTORY} holds links, which tfdbg never writes, and was left out.")
        return None
    fields = _read_json(root / layout.CASE, notes)
    if fields.get("format", layout.FORMAT) != layout.FORMAT:
        notes.append("This dump was saved by a newer tfdbg; a part of it may be missing here.")
    call: Call | None = None
    error: RunError | None = None
    sources: Sources = CaseSources(root / layout.SOURCES, {})
    lacks: dict[str, NoValue] = {}
    ignored: tuple[IgnoredPlace, ...] = ()
    unfinished, exactness, tensors = False, None, NOTHING_SAID
    notes += _missing(root, fields)
    try:
        if fields:
            call = _call(fields["call"], root / layout.FEEDS)
            error = read_error(fields["error"]) if fields.get("error") else None
            sources = CaseSources(root / layout.SOURCES, dict(fields.get("sources", {})))
            lacks = {path: NoValue(Lack(lack), text(told)) for path, (lack, told) in fields.get("lacks", {}).items()}
            ignored = tuple(map(_ignored, items(fields.get("ignored", []))))
            unfinished, exactness = flag(fields.get("unfinished", False)), read_exactness(fields.get("exactness"))
            tensors = read_case_tensors(fields.get("tensors"), root)
    except WRONG_CONTENT:
        notes.append(f"The file {layout.CASE} is damaged; a part of this run's description is missing.")
    kind = GraphKind.PYTHON if fields.get("graph") == GraphKind.PYTHON else GraphKind.RUNTIME
    return SavedCase(
        call=call,
        graph_kind=kind,
        timed=fields.get("timed") is not False,
        error=error,
        notes=_noted(fields),
        python_graph=_graph(root / layout.PYTHON_GRAPH, notes),
        tracebacks=_tracebacks(root / layout.TRACEBACKS, notes, kept=layout.TRACEBACKS in _list(fields.get("parts"))),
        sources=sources,
        profile=_profile(root / layout.PROFILE, notes),
        lacks=lacks,
        ignored=ignored,
        unfinished=unfinished,
        exactness=exactness,
        tensors=tensors,
        no_replay=_refusal(fields),
    )


def read_outline(run_directory: Path, number: int | None) -> RunOutline | None:
    """What the case folder of the dump in `run_directory` tells lists of runs; None where only the run itself does.

    `number` is that of the run, where it is known otherwise.
    """
    root = run_directory / layout.CASE_DIRECTORY
    if root.is_symlink() or (root / layout.CASE).is_symlink():
        return None
    fields = _read_json(root / layout.CASE, [])
    try:
        call = _call(fields["call"], root / layout.FEEDS)
        error = read_error(fields["error"]) if fields.get("error") else None
    except WRONG_CONTENT:
        return None
    return RunOutline(call if number is None else replace(call, number=number), error, cut_off=False)


def noted_in(run_directory: Path) -> tuple[str, ...]:
    """What the program's debugger noted when it saved the dump in `run_directory`; nothing is wrong with it."""
    root = run_directory / layout.CASE_DIRECTORY
    return _noted(_read_json(root / layout.CASE, [])) if _is_plain_folder(root) else ()


def refusal_in(run_directory: Path) -> str:
    """Why the run whose dump is in `run_directory` cannot be made again, as was said when it was saved; or empty."""
    root = run_directory / layout.CASE_DIRECTORY
    return _refusal(_read_json(root / layout.CASE, [])) if _is_plain_folder(root) else ""


def _refusal(fields: Mapping[str, Any]) -> str:
    said = fields.get("no_replay", "")
    return said if isinstance(said, str) else ""


def _noted(fields: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(note for note in _list(fields.get("notes")) if isinstance(note, str))


def _missing(root: Path, fields: Mapping[str, Any]) -> Iterator[str]:
    """What is not in the folder `root` any more, though it was written."""
    if not os.path.lexists(root / layout.CASE):
        others = " With it the names of the tensors in others." if os.path.lexists(root / layout.OTHERS) else ""
        yield f"The file {layout.CASE} is missing; a part of this run's description is.{others}"
    for part, lost in _OF_PARTS.items():
        if part not in _list(fields.get("parts")):
            continue
        if not os.path.lexists(root / part):
            yield f"The file {part} is missing: {lost}."
        elif part == layout.PYTHON_GRAPH and not (root / part).stat().st_size:  # this would be a graph, too
            yield f"The file {part} is empty: {lost}."
    call, sources = fields.get("call"), fields.get("sources")
    feeds = _list(call.get("feeds")) if isinstance(call, dict) else []
    kept = [str(at) for at, feed in enumerate(feeds) if isinstance(feed, dict) and feed.get("kept") is True]
    named = [name for name in sources.values() if _is_hash(name)] if isinstance(sources, dict) else []
    for folder, names, what in (
        (layout.FEEDS, kept, "value{s} of feeds"),
        (layout.SOURCES, sorted(set(named)), "source file{s}"),
    ):
        gone = sum(not os.path.lexists(root / folder / name) for name in names)
        if gone:
            which = what.format(s="s" * (len(names) != 1))
            yield f"{gone} of {len(names)} {which} {'is' if gone == 1 else 'are'} missing."


def damaged_sources(run_directory: Path) -> Iterator[str]:
    """The source files whose copies hold something else than was written."""
    root = run_directory / layout.CASE_DIRECTORY
    sources = _read_json(root / layout.CASE, []).get("sources") if _is_plain_folder(root) else None
    hashes = sources if isinstance(sources, dict) else {}
    kept = CaseSources(root / layout.SOURCES, hashes)
    for path, name in hashes.items():
        if _is_hash(name) and (root / layout.SOURCES / name).is_file() and kept.lines(path) is None:
            yield path


def _is_hash(name: object) -> bool:
    return isinstance(name, str) and _HASH.fullmatch(name) is not None


def _is_plain_folder(root: Path) -> bool:
    """Whether `root` is a folder without links in it, so that no file of it lies somewhere else."""
    if root.is_symlink() or not root.is_dir():
        return False
    return not any(
        Path(place, name).is_symlink() for place, folders, files in os.walk(root) for name in (*folders, *files)
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _read_json(path: Path, notes: list[str]) -> dict[str, Any]:
    try:
        fields = json.loads(read_whole(path, _LONGEST[path.name]))
    except FileNotFoundError:
        return {}
    except OSError as error:
        notes.append(f"The file {path.name} cannot be read: {error.strerror or error}.")
        return {}
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        notes.append(f"The file {path.name} is damaged and was left out.")
        return {}
    return fields


def _call(fields: dict[str, Any], feeds: Path) -> Call:
    kept = [(text(feed["name"]), flag(feed["kept"])) for feed in items(fields["feeds"])]
    return read_call(fields, _feeds(feeds, kept))


def _ignored(fields: dict[str, Any]) -> IgnoredPlace:
    tensor = parse_tensor_name(text(fields["tensor"]))
    if tensor is None:
        raise ValueError("no name of a tensor")
    line = fields["line"]
    return IgnoredPlace(
        whole(fields["run"]),
        text(fields["function"]),
        tensor,
        text(fields["op_type"]),
        text(fields["holds"]),
        text(fields["why"]),
        flag(fields["intended"]),
        texts(fields["nodes"]),
        text(fields["file"]),
        None if line is None else whole(line),
        IgnoredBy(text(fields["by"])),
        text(fields["name"]),
        texts(fields["named"]),
        texts(fields["held"]),
        texts(fields.get("spoiled", [])),
    )


def _graph(path: Path, notes: list[str]) -> Graph | None:
    try:
        return graph_from_def(read_whole(path, _LONGEST[path.name]), GraphKind.PYTHON)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        notes.append("The program's own graph was saved with this dump but is damaged.")
        return None


def _profile(path: Path, notes: list[str]) -> Profile | None:
    fields = _read_json(path, notes)
    try:
        return read_profile(fields) if fields else None
    except WRONG_CONTENT:
        notes.append(f"The file {path.name} is damaged and was left out.")
        return None


def _tracebacks(path: Path, notes: list[str], *, kept: bool) -> Mapping[str, Traceback]:
    """Creation stacks by node name; `kept` says that there are some."""
    told = len(notes)
    fields = _read_json(path, notes)
    try:
        found = read_tracebacks(fields)
    except WRONG_CONTENT:
        notes.append(f"The file {path.name} is damaged; where nodes were made is not known.")
        return LostTracebacks()
    return found if found or not (kept or len(notes) > told) else LostTracebacks()


def _feeds(directory: Path, kept: Sequence[tuple[str, bool]]) -> Mapping[str, Any]:
    """What was fed, by name, read on access: None where the value was not kept, a NoValue of what is damaged."""

    def value(place: int | None) -> Any:
        return None if place is None else read_tensor(str(directory / str(place)))

    return LazyValues({name: index if is_kept else None for index, (name, is_kept) in enumerate(kept)}, value)


class CaseSources:
    """Source files by the path they had when the graph was built."""

    def __init__(self, directory: Path, hashes: Mapping[str, str]) -> None:
        self._directory = directory
        self._hashes = hashes
        self._lines: dict[str, Sequence[str] | None] = {}

    def lines(self, path: str) -> Sequence[str] | None:
        if path not in self._lines:
            self._lines[path] = self._read(self._hashes.get(path))
        return self._lines[path]

    def _read(self, name: str | None) -> Sequence[str] | None:
        if name is None or not _is_hash(name):
            return None
        try:
            content = read_whole(self._directory / name, _LONGEST_SOURCE)
        except OSError:
            return None
        if hashlib.sha256(content).hexdigest() != name:
            return None  # better no source than another one
        return source_lines(content)
