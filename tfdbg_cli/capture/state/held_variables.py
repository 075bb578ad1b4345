"""What variables held before a run, where there is a snapshot of it."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.replay import ReplayInput, Role
from tfdbg_cli.model.runs import Run


def held_variables(run: Run) -> Sequence[ReplayInput]:
    """The variables that `run` wrote, as they were before it; none when it cannot be made again."""
    if run.replayable is None:
        return ()
    try:
        inputs = run.replayable.replay_spec().inputs
    except TfdbgError:  # a part of it perhaps can be all the same
        return ()
    return [item for item in inputs if item.role is Role.VARIABLE]
