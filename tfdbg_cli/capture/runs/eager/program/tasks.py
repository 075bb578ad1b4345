"""Tasks of asyncio that take turns in one thread, so that what one computes stands among what another does."""

from __future__ import annotations

import sys
from types import CodeType

_MIXED = (
    "{} tasks of asyncio are in this loop in one thread: what one of them ran while another waited is in the same"
    " run. `with tfdbg_cli.run():` around a step without `await` makes a run of each."
)


def note_of_tasks(code: CodeType) -> str:
    """A sentence where several tasks of the running event loop are in `code`; empty where one is, or none."""
    asyncio = sys.modules.get("asyncio")
    try:
        now = None if asyncio is None else asyncio.current_task()
    except RuntimeError:  # no event loop runs in this thread
        return ""
    if asyncio is None or now is None:
        return ""
    waiting = [task for task in asyncio.all_tasks() if task is not now]
    within = sum(any(frame.f_code is code for frame in task.get_stack()) for task in waiting)
    return _MIXED.format(within + 1) if within else ""
