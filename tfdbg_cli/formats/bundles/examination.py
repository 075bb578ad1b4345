"""What `tfdbg doctor` says of the part of a bundle from which its run is made again."""

from __future__ import annotations

from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles.layout import REPETITION_DIRECTORY, SCRIPT
from tfdbg_cli.formats.bundles.reader import read_bundle
from tfdbg_cli.formats.bundles.script import SCRIPT_END
from tfdbg_cli.formats.recording.regular_file import read_whole

_LONGEST = 1 << 24  # bytes of a script
_WITHOUT = "`tfdbg replay` does without it. To make the run again without tfdbg, copy the bundle again."


def repetition_troubles(directory: Path) -> tuple[tuple[str, str], ...]:
    """Why the run in `directory` cannot be made again although it was meant to, with a hint; empty if nothing is."""
    if not (directory / REPETITION_DIRECTORY).exists():
        return ()
    try:
        read_bundle(directory)
    except TfdbgError as error:
        return ((f"The run cannot be made again: {error.message}", error.hint),)
    told = _of_script(directory / REPETITION_DIRECTORY / SCRIPT)
    return ((f"The file {REPETITION_DIRECTORY}/{SCRIPT} {told}.", _WITHOUT),) if told else ()


def _of_script(path: Path) -> str:
    """What is wrong with the script that makes the run again without tfdbg; empty for nothing."""
    try:
        text = read_whole(path, _LONGEST).decode("utf-8", "replace")
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    return "" if SCRIPT_END.strip() in text else "ends before its last lines"
