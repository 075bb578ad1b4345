"""What `tfdbg doctor` says of the part of a bundle from which its run is made again."""

from __future__ import annotations

from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles.layout import REPETITION_DIRECTORY
from tfdbg_cli.formats.bundles.reader import read_bundle


def repetition_troubles(directory: Path) -> tuple[tuple[str, str], ...]:
    """Why the run in `directory` cannot be made again although it was meant to, with a hint; empty if nothing is."""
    if not (directory / REPETITION_DIRECTORY).exists():
        return ()
    try:
        read_bundle(directory)
    except TfdbgError as error:
        return ((f"The run cannot be made again: {error.message}", error.hint),)
    return ()
