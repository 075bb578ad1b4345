"""The decision to record runs, as the prompt, the command line and a program describe it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tfdbg_cli.config.job import worker_of
from tfdbg_cli.config.settings import settable
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.waiting import answer, give_up
from tfdbg_cli.model.decision import Full, RecordRuns

_A_SIZE = "Write 512M, 4G, or a number of bytes."


def record_decision(
    path: str,
    *,
    every: int = 1,
    only: str = "",
    layer: str = "",
    stats_only: bool = False,
    budget: str | int = 0,
    full: str = "",
    compress: bool = False,
    worker: str = "",
) -> RecordRuns:
    """Runs to be recorded in `path`; the other arguments are the fields of the decision.

    Raises:
        TfdbgError: they make no sense, there is something at `path` already, or its file system does not answer.

    """
    kinds = {"every": int, "only": str, "layer": str, "budget": int | str, "full": str, "worker": str}
    given = {"every": every, "only": only, "layer": layer, "budget": budget, "full": full, "worker": worker}
    for name, kind in kinds.items():
        if not isinstance(given[name], kind):
            wanted = "a text" if kind is str else "a whole number" if kind is int else "a number of bytes or a text"
            raise TfdbgError(f"{name} is {given[name]!r}, and has to be {wanted}.")
    if every < 1:
        raise TfdbgError(f"One run in {every} cannot be recorded.", hint="10 records one run in ten, 1 every run.")
    try:
        re.compile(only)
    except re.error as error:
        raise TfdbgError(f"Cannot read the regex {only!r}: {error}.") from None
    if full not in {"", *Full}:
        raise TfdbgError(f"A full recording can drop or stop, not {full!r}.")
    size = budget if isinstance(budget, int) else _size(budget)
    if size < 0:
        raise TfdbgError(f"{budget} is no size.", hint=_A_SIZE)
    from tfdbg_cli.formats.jobs.root import refuse_taken  # a program that is not recorded is not kept waiting for it

    place, whose = Path(path), worker or worker_of(os.environ)
    answer(lambda: refuse_taken(place, whose), lambda: give_up(place))
    return RecordRuns(path, every, only, layer, stats_only, size, Full(full or "drop"), compress, worker)


def _size(text: str) -> int:
    if not text:
        return 0
    try:
        found = settable("disk_budget", text)
        assert isinstance(found, int)
    except (TfdbgError, OverflowError):
        raise TfdbgError(f"{text!r} is no size.", hint=_A_SIZE) from None
    return found
