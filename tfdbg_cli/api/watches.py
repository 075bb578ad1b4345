"""What all watches of a process have seen together: that of the process, and those of sessions wrapped by hand."""

from __future__ import annotations

from tfdbg_cli.debugger.debugger import Debugger

_watching: list[Debugger] = []  # those that began with the watch of the command line


def began_with_the_watch(debugger: Debugger) -> None:
    """Note that `debugger`, of a session that the program wrapped, began with the watch of the command line."""
    _watching.append(debugger)


def seen_by_watches(process: Debugger, ops: int) -> str:
    """What the watch of the command line has seen in all the program; empty where it has stopped, or is over.

    Args:
        process: the debugger of what no other debugs.
        ops: how many ops ran eagerly under it.

    """
    own = process.active_watch
    others = [debugger.active_watch for debugger in _watching if debugger.run_count]
    if own is None or None in others:
        return ""
    return own.seen_in_words(ops, sum(watch.watch.runs for watch in others if watch is not None))
