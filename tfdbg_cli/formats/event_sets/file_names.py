"""The names of files of event sets, `tfdbg_events.<seconds>.<host>.<kind>`: by them a folder is recognized."""

from __future__ import annotations

import re

PREFIX = "tfdbg_events."
KINDS = ("metadata", "source_files", "stack_frames", "graphs", "execution", "graph_execution_traces")
FILE_NAME = re.compile(rf"(?P<prefix>{re.escape(PREFIX)}.+)\.(?P<kind>{'|'.join(KINDS)})")


def is_event_file(name: str) -> bool:
    """Whether a file of this name belongs to an event set."""
    return FILE_NAME.fullmatch(name) is not None
