"""Saving a run while the program waits to go on: whatever fails, it goes on."""

from __future__ import annotations

from pathlib import Path

from tfdbg_cli.errors import reason_of
from tfdbg_cli.formats.bundles.saving import save_bundle_or_values
from tfdbg_cli.model.runs import Run


def saved_in_words(run: Run, path: Path, *, disk_budget: int, force: bool, failure: str) -> tuple[str, ...]:
    """Write `run` at `path`, so that it can be made again if it can be; sentences that say what became of it.

    `failure` is the sentence, without its full stop, to which the reason is added when nothing was written.
    """
    try:
        return save_bundle_or_values(run, path, disk_budget=disk_budget, force=force)
    except Exception as error:  # noqa: BLE001
        return (f"{failure}: {reason_of(error)}",)
