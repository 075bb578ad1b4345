"""The public classes: wrap a session, or add a hook to a monitored one. Names and arguments are TensorFlow's."""

from __future__ import annotations

from typing import Any

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.api.session_debuggers import dumping, recorded, session_debugger
from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession
from tfdbg_cli.capture.intercept.monitored import RawSessionHook
from tfdbg_cli.capture.intercept.unattended import WatchFunction


class LocalCLIDebugWrapperSession(DebuggedSession):
    """A session that is debugged at this terminal.

    It stands in for the session it wraps (see `DebuggedSession`). The first run stops at the prompt.
    """

    def __init__(
        self,
        sess: Any,
        dump_root: str | None = None,
        ui_type: str | None = None,
        thread_name_filter: str | None = None,
        config_file_path: str | bool = False,
        log_usage: bool = True,
    ) -> None:
        """Wrap `sess`, a `tf.compat.v1` Session, InteractiveSession or MonitoredSession.

        Args:
            sess: the session.
            dump_root: where the dumps of runs that were stopped at are kept; without it they are deleted.
            ui_type: "curses" (or "tui") for the full screen, "readline" (or "line") for lines; None chooses.
            thread_name_filter: matched from the start of a thread's name; runs of other threads go by.
            config_file_path: a file of settings in place of the user's own.
            log_usage: has no effect; it stands here since it does in TensorFlow.

        Raises:
            TypeError: `sess` is no session.
            ValueError: `dump_root` is a file or a folder that is not empty, or there is no such `ui_type`.

        """
        self._tfdbg_debugger = session_debugger(ui_type, dump_root, thread_name_filter, config_file_path)
        super().__init__(sess, recorded(self._tfdbg_debugger))

    @property
    def run_call_count(self) -> int:
        """How many runs have begun."""
        return self._tfdbg_debugger.run_count

    def increment_run_call_count(self) -> None:
        """Count a run."""
        self._tfdbg_debugger.count_run()

    def add_tensor_filter(self, filter_name: str, tensor_filter: TensorFilter) -> None:
        """Make `tensor_filter(datum, tensor) -> bool` known to `run -f` and `lt -f` as `filter_name`."""
        self._tfdbg_debugger.add_filter(filter_name, tensor_filter)


class DumpingDebugWrapperSession(DebuggedSession):
    """A session whose every run is dumped into a folder of its own under `session_root`. Nothing is asked.

    With `recording` the folder is one recording of all runs instead, which are written beside the program.
    """

    def __init__(
        self,
        sess: Any,
        session_root: str,
        watch_fn: WatchFunction | None = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = None,
        log_usage: bool = True,
        *,
        recording: bool = False,
    ) -> None:
        """Wrap `sess`, a `tf.compat.v1` Session, InteractiveSession or MonitoredSession.

        Args:
            sess: the session.
            session_root: a folder that does not exist or is empty.
            watch_fn: called with fetches and feeds before each run; its WatchOptions say what is dumped. What it
                raises, or a TypeError or ValueError for a wrong answer, leaves `run`, and nothing is computed.
            thread_name_filter: matched from the start of a thread's name; runs of other threads are not dumped.
            pass_through_operrors: has no effect: errors of ops are raised, always.
            log_usage: has no effect; it stands here since it does in TensorFlow.
            recording: `session_root` becomes one recording, as of `tfdbg run --record`, instead of a folder of dumps.
                When it takes half of what is free on the disk, the oldest runs give way.

        Raises:
            TypeError: `sess` is no session, or `watch_fn` cannot be called.
            ValueError: `session_root` is a file or a folder that is not empty.
            TfdbgError: the recording cannot be written there.

        """
        self._tfdbg_runs, controller = dumping(session_root, watch_fn, thread_name_filter, recording)
        super().__init__(sess, controller)

    @property
    def run_call_count(self) -> int:
        """How many runs have begun."""
        return self._tfdbg_runs.run_count

    def increment_run_call_count(self) -> None:
        """Count a run."""
        self._tfdbg_runs.count_run()


class LocalCLIDebugHook(RawSessionHook):
    """A hook that debugs a MonitoredSession at this terminal.

    It sees the program's own runs before any other hook sees what came out of them, errors of ops included.
    """

    def __init__(
        self,
        ui_type: str | None = None,
        dump_root: str | None = None,
        thread_name_filter: str | None = None,
        config_file_path: str | bool | None = None,
    ) -> None:
        """Take the arguments of `LocalCLIDebugWrapperSession`, in TensorFlow's order.

        Raises:
            ValueError: `dump_root` is a file or a folder that is not empty, or there is no such `ui_type`.

        """
        self._debugger = session_debugger(ui_type, dump_root, thread_name_filter, config_file_path)
        super().__init__(recorded(self._debugger))

    def add_tensor_filter(self, filter_name: str, tensor_filter: TensorFilter) -> None:
        """Make `tensor_filter(datum, tensor) -> bool` known to `run -f` and `lt -f` as `filter_name`."""
        self._debugger.add_filter(filter_name, tensor_filter)


class DumpingDebugHook(RawSessionHook):
    """A hook that dumps every run of a MonitoredSession into a folder of its own under `session_root`."""

    def __init__(
        self,
        session_root: str,
        watch_fn: WatchFunction | None = None,
        thread_name_filter: str | None = None,
        log_usage: bool = True,
        *,
        recording: bool = False,
    ) -> None:
        """Take the arguments of `DumpingDebugWrapperSession`.

        Raises:
            TypeError: `watch_fn` cannot be called.
            ValueError: `session_root` is a file or a folder that is not empty.
            TfdbgError: the recording cannot be written there.

        """
        super().__init__(dumping(session_root, watch_fn, thread_name_filter, recording)[1])
