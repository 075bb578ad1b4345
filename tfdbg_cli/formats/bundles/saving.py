"""Saving a run for later at a user's wish, and the sentences that say what became of it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles.writer import Blame, bundle_size, write_bundle
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.formats.recording.writing import require_room
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.replay import ReplaySpec
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import bytes_text
from tfdbg_cli.model.values import NoValue

_NOT_HELD = "The state from before this run was not held"
_VALUES = "`bundle --values PATH` saves what is recorded of it."


def save_bundle(
    run: Run, path: Path, *, blame: Blame | None = None, disk_budget: int = 0, force: bool = False
) -> tuple[str, ...]:
    """Write `run` as a bundle at `path`; sentences that say where it is, and what it lacks.

    Args:
        run: a run whose state from before it is held.
        path: a folder that is empty or not there.
        blame: tells what went wrong first.
        disk_budget: bytes that it may take; 0 for half of what is free.
        force: overrun the budget, and replace a bundle that is there.

    Raises:
        TfdbgError: the run cannot be made again, there is no room, or it cannot be written.

    """
    return _saved(run, replay_spec_of(run), path, blame, disk_budget, force)


def _saved(
    run: Run, replay_spec: ReplaySpec, path: Path, blame: Blame | None, disk_budget: int, force: bool
) -> tuple[str, ...]:
    needed = bundle_size(run, replay_spec)
    if not force:
        require_room(needed, path, disk_budget)
    notes = write_bundle(run, replay_spec, path, blame=blame, replace=force)
    name = shlex.quote(str(path))
    where = (
        f"The bundle is in {path} ({bytes_text(needed)}). `tfdbg replay {name}` makes the run again,"
        f" `tfdbg open {name}` shows it."
    )
    return (where, *replay_spec.limits, *notes)


def save_values(run: Run, path: Path, *, disk_budget: int = 0, force: bool = False) -> tuple[str, ...]:
    """Write what was recorded of `run`, without the means to make it again, at `path`; what to tell about it.

    Why it cannot be made again is written too, where that is known at once, or `run` tells it.

    Raises:
        TfdbgError: there is something at `path`, there is no room, or it cannot be written.

    """
    if run.replayable is None and not run.no_replay:
        run = replace(run, no_replay=_refused_at_once(run).message)
    needed = bundle_size(run, None)
    if not force:
        require_room(needed, path, disk_budget)
    notes = write_dump(run, path)
    name = shlex.quote(str(path))
    place = f"in {path} ({bytes_text(needed)}): `tfdbg open {name}` shows"
    if any(not isinstance(run.tensors.value(row), NoValue) for row in range(len(run.tensors))):
        return (f"The values of the run are {place} them.", *notes)
    what = "The graph of the run is" if run.error is None else "The error of the run, and its graph, are"
    return (f"{what} {place} {'it' if run.error is None else 'them'}. No value of it was captured.", *notes)


def save_bundle_or_values(
    run: Run, path: Path, *, blame: Blame | None = None, disk_budget: int = 0, force: bool = False
) -> tuple[str, ...]:
    """As `save_bundle`; of a run that cannot be made again the values alone, with the reason.

    Raises:
        TfdbgError: there is something at `path`, there is no room, or it cannot be written.

    """
    try:
        replay_spec = replay_spec_of(run)
    except TfdbgError as error:
        refused = replace(run, no_replay=error.message)
        saved = save_values(refused, path, disk_budget=disk_budget, force=force)
        return (*saved, error.message)
    return _saved(run, replay_spec, path, blame, disk_budget, force)


def replay_spec_of(run: Run) -> ReplaySpec:
    """What it takes to make `run` again.

    Raises:
        TfdbgError: it cannot be made again; the hint says what can still be saved.

    """
    if run.replayable is None:
        raise _refused_at_once(run)
    try:
        return run.replayable.replay_spec()
    except TfdbgError as error:
        raise TfdbgError(error.message, hint=f"{error.hint} {_VALUES}".strip(), exit_code=error.exit_code) from error


def _refused_at_once(run: Run) -> TfdbgError:
    """Why nobody can even try to make `run` again, whose state from before it is not held."""
    if run.call.kind is RunKind.EAGER:
        return TfdbgError("What ran eagerly cannot be made again: between its ops ran Python.", hint=_VALUES)
    return TfdbgError(
        f"{_NOT_HELD}, so it cannot be made again.",
        hint=f"`run -f FILTER --bundle PATH` and `record PATH` hold it. {_VALUES}",
    )
