"""The debuggers of sessions that a program wraps itself, and what all watches of a process have seen together."""

from __future__ import annotations

from pathlib import Path

from tfdbg_cli.api.frontends import attended, choose_frontend, person_settings, ui_name
from tfdbg_cli.api.launch_options import launch_options
from tfdbg_cli.capture.dump_folders import empty_folder
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.errors import TfdbgError

_watching: list[Debugger] = []  # those that began with the watch of the command line


def session_debugger(
    ui_type: str | None,
    dump_root: str | None,
    thread_name_filter: str | None,
    config_file_path: str | bool | None,
) -> Debugger:
    """The debugger of one session; for the arguments see `LocalCLIDebugWrapperSession`.

    Raises:
        ValueError: `dump_root` is a file or a folder that is not empty, or there is no such `ui_type`.

    """
    folder = empty_folder(dump_root, "dump_root") if dump_root else None
    try:
        ui_name(ui_type)
    except TfdbgError as error:
        raise ValueError(str(error)) from None
    named = Path(config_file_path).expanduser() if isinstance(config_file_path, str) and config_file_path else None
    settings = person_settings(named)
    # Chosen at the first stop: a program that never stops loads no front end.
    debugger = Debugger(
        lambda: choose_frontend(ui_type, filters=debugger.filters, settings=settings),
        settings=settings,
        thread_name_filter=thread_name_filter,
        dump_root=folder,
        attended=lambda: attended(ui_type),
    )
    debugger.interruption.stand_by()
    if launch_options().until is not None:
        _watching.append(debugger)
    return debugger


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
