"""What the command line's watch has seen in all debuggers together: the process's, and those of wrapped sessions."""

from __future__ import annotations

from tfdbg_cli.api.wrapped_debuggers import wrapped_with_runs
from tfdbg_cli.debugger.debugger import Debugger


def seen_by_watches(process: Debugger, ops: int, passed_over: int) -> str:
    """A sentence about what the watch has seen; empty if it has ended in any debugger that has made a run.

    Args:
        process: the debugger of the process, for all that no wrapped session debugs.
        ops: how many eager ops it has watched.
        passed_over: how many of them went bad of their own in the run in which it stopped last.

    """
    own = process.active_watch
    others = [debugger.active_watch for debugger in wrapped_with_runs()]
    watches = [watch for watch in others if watch is not None]
    if own is None or len(watches) < len(others):
        return ""
    told = next((watch for watch in watches if not own.asks_as(watch.watched)), own)  # begun at a stop
    if told is not own and own.watch.runs:
        return ""
    elsewhere = sum(watch.watch.runs for watch in watches if watch is not told)
    return told.seen_in_words(ops, elsewhere, passed_over if told is own else 0)
