"""What `diff` and `tfdbg diff` have in common: recordings opened, the map read, runs compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tfdbg_cli.analysis.difference.renames import Renames, parsed_renames
from tfdbg_cli.analysis.difference.run_pairs import Compared, compared_recordings
from tfdbg_cli.analysis.difference.tolerance import Tolerance
from tfdbg_cli.analysis.difference.variables_alone import variables_alone
from tfdbg_cli.commands.views.difference_page import Beside, difference_document
from tfdbg_cli.document.document import Document
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.recording.regular_file import read_whole
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Run

_LONGEST_MAP = 1 << 24  # bytes


@dataclass(frozen=True)
class Asked:
    """What a person asks of a comparison. `pattern` narrows the list of tensors to some nodes."""

    tolerance: Tolerance = field(default_factory=Tolerance)
    map_file: str = ""
    number: int | None = None
    graphs: bool = False
    pattern: str = ""


@dataclass(frozen=True)
class Recorded:
    """Some runs, and what they are called on the page."""

    runs: Sequence[Run]
    name: str


def opened_recording(path: str) -> Recorded:
    """The recording at `path`.

    Raises:
        TfdbgError: there is nothing that tfdbg can open, or no run in it.

    """
    opened = open_path(path)
    if not opened.runs:
        raise TfdbgError(f"There is no run in {path}.")
    return Recorded(opened.runs, path)


def compared(first: Recorded, second: Recorded, asked: Asked, shown: Run | None = None) -> tuple[Document, Compared]:
    """The page about the difference, and what it tells of. `shown` is the run that links can lead into.

    Raises:
        TfdbgError: they cannot be compared.

    """
    tolerance = asked.tolerance
    if not all(one is None or one >= 0 for one in (tolerance.rtol, tolerance.atol)):
        raise TfdbgError("A tolerance is a number from 0 on.")
    renames = _renames(asked.map_file)
    first, second, number = _beside_a_checkpoint(first, second, asked.number)
    found = compared_recordings(first.runs, second.runs, number=number, tolerance=tolerance, renames=renames)
    beside = Beside(found, (first.name, second.name), asked.pattern, graphs=asked.graphs, shown=shown)
    return difference_document(beside), found


def _beside_a_checkpoint(
    first: Recorded, second: Recorded, number: int | None
) -> tuple[Recorded, Recorded, int | None]:
    """Both, where one is a checkpoint and the other one is not: then the variables of a run stand for that one.

    Of several runs it is the one with that number, else the last; of several checkpoints the last one, too.
    """
    is_saved = [one.runs[-1].call.kind is RunKind.CHECKPOINT for one in (first, second)]
    if is_saved[0] is is_saved[1]:
        return first, second, number
    saved, recorded = (first, second) if is_saved[0] else (second, first)
    wanted = [run for run in recorded.runs if run.call.number == number] if number is not None else recorded.runs
    if not wanted:
        raise TfdbgError(f"There is no run #{number} in {recorded.name}.", hint="`tfdbg open` lists the runs.")
    variables, checkpoint = variables_alone(wanted[-1], saved.runs[-1])
    ours, theirs = Recorded((variables,), recorded.name), Recorded((checkpoint,), saved.name)
    return (theirs, ours, None) if is_saved[0] else (ours, theirs, None)


def _renames(path: str) -> Renames:
    if not path:
        return Renames()
    try:
        text = read_whole(Path(path).expanduser(), _LONGEST_MAP).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise TfdbgError(f"Cannot read the map {path}: {error}.") from None
    return parsed_renames(text)
