"""Saving a run while the program waits to go on: whatever fails, it goes on."""

from __future__ import annotations

from pathlib import Path

from tfdbg_cli.analysis.origin.blamed import blamed_in
from tfdbg_cli.errors import reason_of
from tfdbg_cli.formats.bundles.saving import save_bundle_or_values
from tfdbg_cli.model.decision import RecordRun, RunUntil
from tfdbg_cli.model.runs import Run
from tfdbg_cli.process.interruptions import our_errors

_NOTHING = "No bundle was written: this exception came from no run of which values or a graph are known."


def bundled_in_words(run: Run, decision: RunUntil, *, disk_budget: int) -> tuple[str, ...]:
    """As `saved_in_words`, where `decision` asks for a bundle; `run` is that of its stop."""
    if not decision.bundle:
        return ()
    if run.error is not None and run.replayable is None and not len(run.tensors) and not len(run.graph):
        return (_NOTHING,)
    failure = "The bundle was not written"
    path = Path(decision.bundle)
    return saved_in_words(run, path, disk_budget=disk_budget, force=decision.force, failure=failure)


def recorded_in_words(run: Run, decision: RecordRun, *, disk_budget: int) -> tuple[str, ...]:
    """As `saved_in_words`, where `decision` says."""
    failure = f"Run #{run.call.number} was not recorded"
    return saved_in_words(run, Path(decision.path), disk_budget=disk_budget, force=decision.force, failure=failure)


def saved_in_words(run: Run, path: Path, *, disk_budget: int, force: bool, failure: str) -> tuple[str, ...]:
    """Write `run` at `path`, so that it can be made again if it can be; sentences that say what became of it.

    `failure` is the sentence, without its full stop, to which the reason is added when nothing was written.
    """
    try:
        return save_bundle_or_values(run, path, blame=blamed_in, disk_budget=disk_budget, force=force)
    except our_errors() as error:
        return (f"{failure}: {reason_of(error)}",)
