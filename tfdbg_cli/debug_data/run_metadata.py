"""What a dump says of the call that made it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.messages.event_file import DamagedFileError, read_event

Item = TypeVar("Item")


class CoreMetadata(NamedTuple):
    """What the runtime writes about a call.

    `global_step` is what the caller gave, or -1; the run index counts the calls of the session, the executor step
    index those of this kind, both from 0. The names are those of feeds, fetched tensors and operations, sorted.
    """

    global_step: int
    session_run_index: int
    executor_step_index: int
    input_names: list[str]
    output_names: list[str]
    target_nodes: list[str]


def extract_core_metadata_from_event_proto(event: Any) -> CoreMetadata:
    """The metadata in the message of `event`.

    Raises:
        TfdbgError: it holds none.

    """
    try:
        fields = json.loads(event.log_message.message)
        return CoreMetadata(*(fields[name] for name in CoreMetadata._fields))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise TfdbgError("This Event holds no metadata of a run.") from None


def core_metadata(paths: list[Path], notes: list[str]) -> list[CoreMetadata]:
    """The metadata in each file, one for each run; what cannot be read is told in `notes`."""
    found = []
    for path in paths:
        try:
            found.append(extract_core_metadata_from_event_proto(read_event(path)))
        except DamagedFileError as error:
            notes.append(str(error))
        except TfdbgError:
            notes.append(f"The file {path.name} holds no metadata of a run and was left out.")
    return found


def messages(paths: list[Path], notes: list[str]) -> list[str]:
    """The text in each file; what cannot be read is told in `notes`."""
    found = []
    for path in paths:
        try:
            found.append(read_event(path).log_message.message)
        except DamagedFileError as error:
            notes.append(str(error))
    return found


def one_or_all(items: list[Item]) -> Item | list[Item] | None:
    """The only item, None when there is none, or all of several."""
    if not items:
        return None
    return items[0] if len(items) == 1 else items
