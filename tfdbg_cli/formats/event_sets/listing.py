"""Which event sets lie in a folder: the files of each program run, of one host or of several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tfdbg_cli.formats.event_sets.file_names import FILE_NAME, KINDS, PREFIX
from tfdbg_cli.formats.event_sets.records import DamagedRecordError, RecordFile
from tfdbg_cli.formats.event_sets.times import seconds
from tfdbg_cli.formats.messages import schema


@dataclass(frozen=True)
class HostFiles:
    """The files that one host wrote: `tfdbg_events.<seconds>.<host>.<kind>`."""

    folder: Path
    prefix: str

    def file(self, kind: str) -> RecordFile:
        """The file of `kind`, which need not be there."""
        return RecordFile(self.folder / f"{self.prefix}.{kind}")

    def missing(self, *kinds: str) -> Sequence[str]:
        """The names of the files of these kinds that are not there."""
        names = [f"{self.prefix}.{kind}" for kind in kinds]
        return [name for name in names if not (self.folder / name).exists()]


@dataclass(frozen=True)
class EventFiles:
    """The files of one run of a program: of each host, the one that began first in front.

    `version` is that of TensorFlow, `layout` that of the files; both are empty where no host tells. `notes` are
    sentences about what is missing or damaged.
    """

    hosts: Sequence[HostFiles]
    run_id: str = ""
    version: str = ""
    layout: str = ""
    started: float = 0.0
    notes: Sequence[str] = ()


@dataclass
class _Begun:
    hosts: list[tuple[float, HostFiles]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    version: str = ""
    layout: str = ""


def event_sets(folder: Path, names: Iterable[str]) -> list[EventFiles]:
    """The sets in `folder`, the oldest first. Hosts of one run have one id; files without an id stand alone."""
    kinds: dict[str, set[str]] = {}
    for name in names:
        match = FILE_NAME.fullmatch(name)
        if match:
            kinds.setdefault(match["prefix"], set()).add(match["kind"])
    found: dict[str, _Begun] = {}
    for prefix, there in kinds.items():
        files = HostFiles(folder, prefix)
        started, run_id, version, layout, note = _metadata(files)
        begun = found.setdefault(run_id or prefix, _Begun())
        begun.hosts.append((started, files))
        begun.version, begun.layout = begun.version or version, begun.layout or layout
        begun.notes += [note] if note else []
        missing = [kind for kind in KINDS if kind not in there and not (kind == "metadata" and note)]
        if missing:
            begun.notes.append(f"Of {prefix} these files are missing: {', '.join(missing)}.")
    sets = [
        EventFiles(
            [files for _, files in sorted(begun.hosts, key=lambda host: (host[0], host[1].prefix))],
            "" if key.startswith(PREFIX) else key, begun.version, begun.layout,
            min(started for started, _ in begun.hosts), begun.notes,
        )
        for key, begun in found.items()
    ]  # fmt: skip
    return sorted(sets, key=lambda files: (files.started, files.hosts[0].prefix))


def _metadata(files: HostFiles) -> tuple[float, str, str, str, str]:
    """When the host began, the id of the run, the versions, and what is wrong with the file."""
    file = files.file("metadata")
    told = f"The file {file.path.name} tells nothing"
    started = _seconds(files.prefix)
    try:
        for record in file.scan():
            event = schema.DebugEvent.FromString(file.read(record.offset))
            metadata = event.debug_metadata
            versions = metadata.tensorflow_version, metadata.file_version
            return seconds(event.wall_time), metadata.tfdbg_run_id, *versions, ""
    except DamagedRecordError as error:
        return started, "", "", "", str(error)
    except schema.DecodeError:
        return started, "", "", "", f"{told}: it is damaged."
    return started, "", "", "", file.ending or f"{told}: it is empty or not there."


def _seconds(prefix: str) -> float:
    text = prefix.removeprefix(PREFIX).partition(".")[0]
    return float(text) if text.isdecimal() and len(text) < 16 else 0.0
