"""What `diff` and `tfdbg diff` have in common: recordings opened, the map read, runs compared."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tfdbg_cli.analysis.difference.compared_recordings import Compared, compared_in_replicas, compared_recordings
from tfdbg_cli.analysis.difference.divergence import Told, silently
from tfdbg_cli.analysis.difference.tolerance import Tolerance
from tfdbg_cli.analysis.pairing.renames import Renames, parsed_renames
from tfdbg_cli.analysis.pairing.variables_alone import variables_alone
from tfdbg_cli.commands.context import count_made
from tfdbg_cli.commands.views.difference.page import SideBySide, difference_document
from tfdbg_cli.document.document import Document
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.recording.addresses import is_address
from tfdbg_cli.formats.recording.regular_file import read_whole
from tfdbg_cli.formats.recording.saved_runs import SavedRuns
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Run, number_of

_LONGEST_MAP = 1 << 24  # bytes
_NUMBERED = re.compile(r"(.+)#([0-9]{1,18})", re.DOTALL)  # one run of a recording


@dataclass(frozen=True)
class DiffRequest:
    """What a user asks of a comparison. `pattern` narrows the list of tensors to some nodes."""

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
    """The recording at `path`; behind a # may stand the number of the run in it that alone is meant.

    Raises:
        TfdbgError: there is nothing that tfdbg can open, or no run in it.

    """
    numbered = None if os.path.lexists(Path(path).expanduser()) else _NUMBERED.fullmatch(path)
    path = numbered[1] if numbered else path
    opened = open_path(path)
    if not opened.runs:
        raise TfdbgError(f"There is no run in {path}.")
    recorded = Recorded(_programs_own(opened.runs), path)
    return Recorded((_wanted(recorded, int(numbered[2])),), path) if numbered else recorded


def _programs_own(runs: Sequence[Run]) -> Sequence[Run]:
    """Those of `runs` that the program made; all where none is."""
    count = count_made(runs)
    return runs[:-count] if 0 < count < len(runs) else runs


def opened_workers(path: str, first: str, second: str) -> tuple[Recorded, Recorded]:
    """The runs of two of the workers that recorded in `path`.

    Raises:
        TfdbgError: there is nothing that tfdbg can open, or no such worker.

    """
    opened = open_path(path)
    for worker in (first, second):
        if worker not in opened.workers:
            there = f"There are: {', '.join(opened.workers)}." if opened.workers else "No workers recorded there."
            raise TfdbgError(f"There is no worker {worker} in {path}.", hint=there, exit_code=2)
    return _of_worker(path, first), _of_worker(path, second)


def _of_worker(path: str, worker: str) -> Recorded:
    place = f"{path.rstrip('/')}/{worker}" if is_address(path) else Path(path).expanduser() / worker
    runs = open_path(place).runs

    def read(place: int) -> Run:
        run = runs[place]
        return replace(run, call=replace(run.call, worker=worker))

    return Recorded(SavedRuns(range(len(runs)), read), "")


def compared(
    first: Recorded, second: Recorded, asked: DiffRequest, shown: Run | None = None, told: Told = silently
) -> tuple[Document, Compared]:
    """The page about the difference, and what it tells of. `shown` is the run that links can lead into.

    `told` hears the share that is done.

    Raises:
        TfdbgError: they cannot be compared.

    """
    tolerance = _tolerance(asked)
    renames = _renames(asked.map_file)
    first, second, number = _beside_a_saved_model(first, second, asked)
    first, second, number = _beside_a_checkpoint(first, second, number)
    found = compared_recordings(
        first.runs, second.runs, number=number, tolerance=tolerance, renames=renames, graphs=asked.graphs, told=told
    )
    beside = SideBySide(found, (first.name, second.name), asked.pattern, graphs=asked.graphs, shown=shown)
    return difference_document(beside), found


def replicas_compared(
    recorded: Recorded, replicas: Sequence[int], asked: DiffRequest, shown: Run | None = None, told: Told = silently
) -> tuple[Document, Compared]:
    """The page about the difference between replicas of one run, and what it tells of; as `compared`.

    `replicas` are the two that are meant, or one that is set beside the first; of none each one is.

    Raises:
        TfdbgError: they cannot be compared.

    """
    if asked.graphs or len(replicas) > 2:
        text = "Replicas have one graph." if asked.graphs else "Two replicas are compared."
        raise TfdbgError(text, hint="Write: diff --replicas, or diff --replicas 0 1", exit_code=2)
    found = compared_in_replicas(
        recorded.runs,
        replicas,
        number=asked.number,
        tolerance=_tolerance(asked),
        renames=_renames(asked.map_file),
        told=told,
    )
    if shown is not None and recorded.runs[found.places[0]] is shown:
        shown = found.comparison.runs[0]
    beside = SideBySide(found, (recorded.name, recorded.name), asked.pattern, shown=shown)
    return difference_document(beside), found


def _tolerance(asked: DiffRequest) -> Tolerance:
    if not all(one is None or 0 <= one < math.inf for one in (asked.tolerance.rtol, asked.tolerance.atol)):
        raise TfdbgError("A tolerance is a number from 0 on, not infinite.")
    return asked.tolerance


def _beside_a_saved_model(
    first: Recorded, second: Recorded, asked: DiffRequest
) -> tuple[Recorded, Recorded, int | None]:
    """Both, where one holds graphs and the variables that belong to them: what the other one can be set against.

    That are the graphs where it is nothing else, and the variables, which alone have values, where it has some.
    """
    both, number = (first, second), asked.number
    models = [_is_saved_model(one) for one in both]
    if not any(models) or (all(models) and (asked.graphs or number is not None)):
        return first, second, number
    if any(one.runs[-1].call.kind is RunKind.GRAPH for one in both):
        graphs = [Recorded(one.runs[:-1], one.name) if mine else one for one, mine in zip(both, models, strict=True)]
        return graphs[0], graphs[1], number
    variables = [Recorded((one.runs[-1],), one.name) if mine else one for one, mine in zip(both, models, strict=True)]
    other = next((one for one, mine in zip(both, models, strict=True) if not mine), None)
    if other is None or other.runs[-1].call.kind is not RunKind.CHECKPOINT:
        return variables[0], variables[1], number
    saved = Recorded((_wanted(other, number),), other.name)
    return (variables[0], saved, None) if models[0] else (saved, variables[1], None)


def _is_saved_model(one: Recorded) -> bool:
    """Whether it is graphs and, behind them, their variables."""
    return one.runs[0].call.kind is RunKind.GRAPH and one.runs[-1].call.kind is RunKind.CHECKPOINT


def _wanted(one: Recorded, number: int | None) -> Run:
    """The run with that number; without one the last."""
    if number is None:
        return one.runs[-1]
    for place in range(len(one.runs)):
        if number_of(one.runs, place) == number:
            return one.runs[place]
    raise TfdbgError(f"There is no run #{number} in {one.name}.", hint="`tfdbg open` lists the runs.")


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
    variables, checkpoint = variables_alone(_wanted(recorded, number), saved.runs[-1])
    ours, theirs = Recorded((variables,), recorded.name), Recorded((checkpoint,), saved.name)
    return (theirs, ours, None) if is_saved[0] else (ours, theirs, None)


def _renames(path: str) -> Renames:
    if not path:
        return Renames()
    try:
        text = read_whole(Path(path).expanduser(), _LONGEST_MAP).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        hint = "A map is a file of text with two names a line: NAME_A NAME_B."
        raise TfdbgError(f"Cannot read the map {path}: {why}.", hint=hint) from None
    return parsed_renames(text)
