"""Which call a dump came from, as far as TensorFlow's own metadata files tell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdbg_cli.formats.dumps.listing import DumpListing, run_number
from tfdbg_cli.formats.messages.event_file import DamagedFileError, read_event
from tfdbg_cli.formats.recording.json_fields import WRONG_CONTENT, whole
from tfdbg_cli.model.calls import Call, RunKind

# The names in repr() of tensors, variables, operations and plain texts.
_NAMED = re.compile(r"<tf\.(?P<kind>\w+) '(?P<name>[^']*)'|(?<![\w=])'(?P<text>[^']+)'(?!\s*:)")


@dataclass(frozen=True, slots=True)
class CoreMetadata:
    """What the runtime wrote about the call; `session_run_index` counts from 0."""

    session_run_index: int
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    target_nodes: tuple[str, ...]


def call_of(listing: DumpListing, notes: list[str]) -> Call:
    """The call that made the dump. Values of feeds are None: TensorFlow keeps their names only.

    What cannot be read is appended to `notes`.
    """
    metadata = _core_metadata(listing, notes)
    fetched = list(_names(_messages(listing.fetches, notes)))
    fed = list(_names(_messages(listing.feed_keys, notes)))
    fetches = [name for name, is_tensor in fetched if is_tensor]
    targets = [name for name, is_tensor in fetched if not is_tensor]
    feeds = [name for name, _ in fed]
    if metadata is not None:
        fetches = _ordered(metadata.output_names, fetches)
        targets = _ordered(metadata.target_nodes, targets)
        feeds = _ordered(metadata.input_names, feeds)
    return Call(
        number=_number(listing.root, metadata),
        kind=RunKind.SESSION,
        fetches=tuple(fetches),
        feeds=dict.fromkeys(feeds),
        targets=tuple(targets),
    )


def _number(root: Path, metadata: CoreMetadata | None) -> int:
    number = run_number(root.name)
    if number is not None:
        return number
    return max(metadata.session_run_index, 0) + 1 if metadata else 1


def _ordered(names: tuple[str, ...], as_written: list[str]) -> list[str]:
    """`names` (sorted by the runtime) in the order in which the program wrote them, where that is known."""
    place = {name: index for index, name in reversed(list(enumerate(as_written)))}
    return sorted(names, key=lambda name: place.get(name, len(place)))


def _core_metadata(listing: DumpListing, notes: list[str]) -> CoreMetadata | None:
    if len(listing.core_metadata) > 1:
        notes.append(f"{len(listing.core_metadata)} runs wrote into this folder; the call shown is the last one's.")
    for path in sorted(listing.core_metadata, key=lambda path: path.name, reverse=True):
        try:
            return _parse_core_metadata(json.loads(read_event(path).log_message.message))
        except DamagedFileError as error:
            notes.append(str(error))
        except WRONG_CONTENT:
            notes.append(f"The file {path.name} holds no metadata of a run and was left out.")
    return None


def _parse_core_metadata(fields: Any) -> CoreMetadata:
    def names(key: str) -> tuple[str, ...]:
        found = fields.get(key, [])
        return tuple(name for name in found if isinstance(name, str))

    return CoreMetadata(
        whole(fields.get("session_run_index", 0), least=-1),
        names("input_names"),
        names("output_names"),
        names("target_nodes"),
    )


def _messages(paths: list[Path], notes: list[str]) -> Iterator[str]:
    for path in paths:
        try:
            yield read_event(path).log_message.message
        except DamagedFileError as error:
            notes.append(str(error))


def _names(texts: Iterator[str]) -> Iterator[tuple[str, bool]]:
    """The names in a repr of fetches or feeds, each with whether it is a tensor (and not an operation)."""
    for text in texts:
        for match in _NAMED.finditer(text):
            yield match["name"] or match["text"], match["kind"] != "Operation"
