"""What TensorFlow's runtime wrote into a dump about the call that made it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tfdbg_cli.errors import WRONG_CONTENT
from tfdbg_cli.formats.messages.event_file import DamagedFileError, read_event
from tfdbg_cli.formats.recording.json_fields import whole


class CoreMetadata(NamedTuple):
    """What the runtime writes about a call.

    `global_step` is what the caller gave, or -1; the run index counts the calls of the session, those that tfdbg
    made of its own among them, the executor step index those of this kind, both from 0. The names are those of feeds,
    fetched tensors and operations, sorted.
    """

    global_step: int
    session_run_index: int
    executor_step_index: int
    input_names: list[str]
    output_names: list[str]
    target_nodes: list[str]


def parsed_metadata(text: str) -> CoreMetadata:
    """The metadata in the message of an event. Raises what `WRONG_CONTENT` lists where it holds none."""
    fields = json.loads(text)

    def names(key: str) -> list[str]:
        return [name for name in fields.get(key, []) if isinstance(name, str)]

    return CoreMetadata(
        whole(fields.get("global_step", -1), least=-(1 << 63)),
        whole(fields.get("session_run_index", 0), least=-1),
        whole(fields.get("executor_step_index", 0), least=-1),
        names("input_names"),
        names("output_names"),
        names("target_nodes"),
    )


def metadata_in(paths: Iterable[Path], notes: list[str]) -> Iterator[CoreMetadata]:
    """The metadata in each file, one for each run; what cannot be read is told in `notes`."""
    for path in paths:
        try:
            yield parsed_metadata(read_event(path).log_message.message)
        except DamagedFileError as error:
            notes.append(str(error))
        except WRONG_CONTENT:
            notes.append(f"The file {path.name} holds no metadata of a run and was left out.")


def messages_in(paths: Iterable[Path], notes: list[str]) -> Iterator[str]:
    """The text in each file; what cannot be read is told in `notes`."""
    for path in paths:
        try:
            yield read_event(path).log_message.message
        except DamagedFileError as error:
            notes.append(str(error))


def metadata_of_event(event: Any) -> CoreMetadata | None:
    """The metadata in an Event; None where it holds none."""
    try:
        return parsed_metadata(event.log_message.message)
    except WRONG_CONTENT:
        return None
