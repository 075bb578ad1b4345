"""What to suggest where something needs a live or replayed run, but the run was read from disk."""

from __future__ import annotations

import shlex
from pathlib import Path

from tfdbg_cli.formats.bundles.layout import is_bundle
from tfdbg_cli.formats.recording.addresses import is_address
from tfdbg_cli.model.runs import Run


def how_to_replay(run: Run) -> str:
    """A hint how to make `run`, read from disk, again: by `tfdbg replay`, if it comes from a bundle.

    Its path is relative to the folder in which tfdbg was started, if it was given so.
    """
    if run.origin_path and is_address(run.origin_path):
        return "`tfdbg replay BUNDLE` can, of a bundle that lies on this machine."
    if run.origin_path and is_bundle(Path(run.origin_path)):
        return f"`tfdbg replay {shlex.quote(run.origin_path)}` makes the run again; there it can."
    return "`tfdbg replay BUNDLE` can, of a bundle."
