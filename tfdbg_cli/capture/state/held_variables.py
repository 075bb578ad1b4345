"""What variables held before a run, where somebody keeps it."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.repetition import RepetitionInput, Role
from tfdbg_cli.model.runs import Run


def held_variables(run: Run) -> Sequence[RepetitionInput]:
    """The variables that `run` wrote, as they were before it; none when it cannot be made again."""
    if run.repeatable is None:
        return ()
    try:
        inputs = run.repeatable.repetition().inputs
    except TfdbgError:  # a part of it perhaps can be all the same
        return ()
    return [item for item in inputs if item.role is Role.VARIABLE]
