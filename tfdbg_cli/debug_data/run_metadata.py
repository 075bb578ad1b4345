"""What a dump says of the call that made it, by TensorFlow's names."""

from __future__ import annotations

from typing import Any, TypeVar

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.dumps.core_metadata import CoreMetadata, metadata_of_event

Item = TypeVar("Item")


def extract_core_metadata_from_event_proto(event: Any) -> CoreMetadata:
    """The metadata in the message of `event`.

    Raises:
        TfdbgError: it holds none.

    """
    found = metadata_of_event(event)
    if found is None:
        raise TfdbgError("This Event holds no metadata of a run.")
    return found


def one_or_all(items: list[Item]) -> Item | list[Item] | None:
    """The only item, None when there is none, or all of several."""
    if not items:
        return None
    return items[0] if len(items) == 1 else items
