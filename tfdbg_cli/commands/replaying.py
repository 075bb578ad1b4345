"""Where a run on disk leads that only a program, or a bundle made again, can go on with."""

from __future__ import annotations

import shlex
from pathlib import Path

from tfdbg_cli.formats.bundles.layout import is_bundle
from tfdbg_cli.model.runs import Run


def how_to_replay(run: Run) -> str:
    """What to type in a shell where `run`, read from disk, is to be made again; of another recording what that needs.

    Relative paths are relative to where tfdbg was started.
    """
    if run.origin_path and is_bundle(Path(run.origin_path)):
        return f"`tfdbg replay {shlex.quote(run.origin_path)}` makes the run again; there it can."
    return "`tfdbg replay BUNDLE` can, of a bundle."
