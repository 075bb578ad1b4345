"""The debuggers and controllers of sessions that a program wraps itself."""

from __future__ import annotations

from pathlib import Path

from tfdbg_cli.api.attendance import attended, ui_name
from tfdbg_cli.api.fellows import fellows
from tfdbg_cli.api.frontends import choose_frontend, user_settings
from tfdbg_cli.api.launch_options import launch_options
from tfdbg_cli.api.live import follow, progress
from tfdbg_cli.api.process_debugger import process_debugger
from tfdbg_cli.api.screen_beside import load_beside
from tfdbg_cli.api.wrapped_debuggers import note_wrapped_session
from tfdbg_cli.capture.controller import Controller
from tfdbg_cli.capture.dump_folders import empty_folder
from tfdbg_cli.capture.intercept.dumping_controller import DumpingController
from tfdbg_cli.capture.intercept.go_between import CountingController
from tfdbg_cli.capture.intercept.unattended import PassingController, WatchFunction
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.debugger.prompt_threads import PromptThreads
from tfdbg_cli.debugger.recorder import Recorder
from tfdbg_cli.debugger.recording_controller import RecordingController
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import RecordRuns


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
    settings = user_settings(named)
    # The front end is chosen at the first stop: the terminal is examined then, and its modules may be loaded by then.
    debugger = Debugger(
        lambda: choose_frontend(ui_type, filters=debugger.filters, settings=settings),
        settings=settings,
        thread_name_filter=thread_name_filter,
        dump_root=folder,
        attended=lambda: attended(ui_type),
        recorder=process_debugger().debugger.recorder,
        progress=progress(),
        fellows=fellows(),
    )
    follow(debugger)
    debugger.interruption.stand_by()
    load_beside(ui_type)
    options = launch_options()
    note_wrapped_session(debugger, watches=options.until is not None)
    if options.until is None and options.record is not None and options.script is None:
        debugger.set_watch(None)  # `run --record` without commands does not stop
    if options.seat is not None:
        options.seat.register(debugger)
    return debugger


def recorded(controller: CountingController) -> Controller:
    """A controller around `controller` that also records its runs while the recording of the process is on."""
    return RecordingController(controller, process_debugger().debugger.recorder)


def dumping(
    session_root: str, watch_fn: WatchFunction | None, thread_name_filter: str | None, recording: bool
) -> tuple[PassingController, Controller]:
    """The counter of runs and the controller of a session whose every run is dumped, or with `recording` recorded.

    For the arguments see `DumpingDebugWrapperSession`.

    Raises:
        TypeError: `watch_fn` cannot be called.
        ValueError: `session_root` is a file or a folder that is not empty.
        TfdbgError: the recording cannot be written there.

    """
    folder = empty_folder(session_root, "session_root")
    settings = user_settings()
    if not recording:
        controller = DumpingController(folder, watch_fn, thread_name_filter, settings)
        return controller, recorded(controller)
    threads = PromptThreads(thread_name_filter)
    counting = PassingController(watch_fn, settings, threads.include_this)
    recorder = Recorder(lambda: settings)
    recorder.begin(RecordRuns(str(folder)))
    return counting, recorded(RecordingController(counting, recorder, threads))
