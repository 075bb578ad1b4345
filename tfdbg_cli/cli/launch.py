"""Running somebody's program under the debugger, in this process, as `python` itself would run it."""

from __future__ import annotations

import os
import runpy
import sys
import threading
import zipfile
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from importlib.util import decode_source
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import TYPE_CHECKING, TypeVar

from tfdbg_cli.api.import_hook import after_import
from tfdbg_cli.api.launch_options import LaunchOptions, set_launch_options
from tfdbg_cli.cli.shadowed_modules import keep_shadowed
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.process.own_frames import leave_out_our_frames, our_files, started_by

if TYPE_CHECKING:
    from tfdbg_cli.api.process_debugger import ProcessDebugger

_T = TypeVar("_T")
_our_main: list[ModuleType] = []  # keeps the module that started us alive: its frames are still running


def debug_process(options: LaunchOptions) -> None:
    """Debug everything that this process runs with TensorFlow from now on, as `options` say.

    TensorFlow is not imported here: programs set environment variables before they import it.
    """
    set_launch_options(options)
    after_import("tensorflow", _hide_frames_from_tensorflow)
    wanted = options.script is not None or options.record is not None or options.rules is not None
    if options.ui != "none" or wanted:
        after_import("tensorflow", _intercept)


def debug_on_demand(options: LaunchOptions, imported: Callable[[], None]) -> None:
    """Leave this process alone, and call `imported` once it has TensorFlow: from then on it can be debugged."""
    set_launch_options(options)
    after_import("tensorflow", _hide_frames_from_tensorflow)
    after_import("tensorflow", imported)


def _hide_frames_from_tensorflow() -> None:
    """Hide our frames in TensorFlow's errors, so that they show where the program made an op."""
    try:
        from tfdbg_cli.capture.tf.compat import hide_frames

        hide_frames(our_files())
    except our_errors() as error:
        _report("leave its own calls out of TensorFlow's errors", error)


def _report(what: str, error: Exception) -> None:
    from tfdbg_cli.capture.failures import report

    report(what, error)


def _intercept() -> None:
    try:
        from tfdbg_cli.api.process_debugger import process_debugger

        process_debugger().enable()
        _watch_threads()
    except our_errors() as error:  # the program must run even where it cannot be debugged
        _report("debug the runs of this program", error)


def main_module_ended(*, failed: bool) -> None:
    """End the run of the main module of the program of `debug_process`, whose threads and handlers may go on.

    `failed` says that it ended with an exit code that tells of a failure.
    """
    _asked_at_the_end(lambda debugger: debugger.main_module_ends(failed=failed), None)


def program_ended() -> Sequence[str]:
    """End the last run of the program of `debug_process`; what a watch that is still on has seen, if any is."""
    return _asked_at_the_end(lambda debugger: debugger.program_ends(), ())


def last_words() -> Sequence[str]:
    """What a watch that is still on has seen by now, if any is."""
    return _asked_at_the_end(lambda debugger: debugger.last_words(), ())


def _asked_at_the_end(ask: Callable[[ProcessDebugger], _T], otherwise: _T) -> _T:
    process = sys.modules.get("tfdbg_cli.api.process_debugger")
    if process is None:
        return otherwise
    try:
        return ask(process.process_debugger())
    except our_errors() as error:
        _report("end the last run", error)
        return otherwise


def live_ends() -> None:
    """Give the lines of the terminal back that told how the training went."""
    live = sys.modules.get("tfdbg_cli.api.live")
    view = None if live is None else live.live_view()
    if view is not None:
        view.end()


def rule_fired() -> bool:
    """Whether one of the rules of `debug_process` fired while nobody was at a prompt."""
    process = sys.modules.get("tfdbg_cli.api.process_debugger")
    return process is not None and bool(process.process_debugger().rules.unanswered)


def _program_fails(error: Exception, thread: str = "") -> None:
    """Have the prompt open on `error`, which leaves the program, or the `thread` of that name."""
    process = sys.modules.get("tfdbg_cli.api.process_debugger")
    if process is not None:
        try:
            process.process_debugger().program_fails(error, thread)
        except our_errors() as failure:  # the program ends with its own error
            _report("show what ended the program", failure)


def _watch_threads() -> None:
    """Have the prompt open on an exception that ends a thread of the program, before Python tells of it.

    A hook of the program's own that does not call the one before it is left alone: then nobody knows what came of it.
    """
    theirs = threading.excepthook

    def hook(args: threading.ExceptHookArgs) -> None:
        if isinstance(args.exc_value, Exception):
            _program_fails(args.exc_value, threading.current_thread().name)
        theirs(args)

    threading.excepthook = hook


def script_program(path: str, arguments: Sequence[str]) -> Callable[[], None]:
    """What runs the script, folder or archive at `path` with `arguments`.

    Raises:
        TfdbgError: there is no such file, or it cannot be read.

    """
    place = Path(path)
    if place.is_dir() or (place.is_file() and zipfile.is_zipfile(place)):
        if place.is_dir() and not (place / "__main__.py").is_file():
            raise TfdbgError(f"The folder {path} holds no __main__.py.", hint="Name a script, or use -m MODULE.")
        return lambda: _run_container(path, arguments)
    try:
        source = place.read_bytes()
    except FileNotFoundError:
        if path == "-":
            hint = "Name a file, or give it by that name: tfdbg run /dev/stdin."
            raise TfdbgError("A script is not taken from standard input by the name -.", hint=hint) from None
        raise TfdbgError(f"There is no script {path}.", hint="Write: tfdbg run SCRIPT [ARG]…") from None
    except OSError as error:
        raise TfdbgError(f"Cannot read the script {path}: {error.strerror}.") from None
    return lambda: _run_script(path, source, arguments)


def module_program(name: str, arguments: Sequence[str]) -> Callable[[], None]:
    """What runs the module `name` with `arguments`, as `python -m` does."""
    return lambda: _run_module(name, arguments)


def _run_script(path: str, source: bytes, arguments: Sequence[str]) -> None:
    file = _absolute(path)
    _set_path(_unless_safe(os.path.dirname(os.path.realpath(path))))  # noqa: PTH120
    sys.argv = [path, *arguments]
    main = _new_main()
    vars(main).update({"__file__": file, "__cached__": None, "__loader__": SourceFileLoader("__main__", file)})

    def start() -> None:
        if not _is_text(source):
            from tfdbg_cli.cli.undecoded_script import run_as_file  # few scripts are none

            return run_as_file(source, file, main.__dict__)
        code = compile(source, file, "exec", dont_inherit=True)
        return exec(code, main.__dict__)

    _run(start, lambda code: code.co_filename == file and code.co_name == "<module>")


def _is_text(source: bytes) -> bool:
    """Whether `source` can be decoded, by what it declares or as UTF-8; `compile` takes some that cannot."""
    try:
        return "\0" not in decode_source(source)
    except (SyntaxError, UnicodeDecodeError):
        return False


def _run_container(path: str, arguments: Sequence[str]) -> None:
    _set_path(_absolute(path))
    sys.argv = [path, *arguments]
    _new_main()
    _run_by_runpy("__main__", alter_argv=False)


def _run_module(name: str, arguments: Sequence[str]) -> None:
    _set_path(_unless_safe(_current_folder()))
    sys.argv = ["-m", *arguments]
    _new_main()
    _run_by_runpy(name, alter_argv=True)


def _run_by_runpy(name: str, *, alter_argv: bool) -> None:
    # The interpreter calls this very function for -m and for folders: messages and exit codes are its own.
    main = runpy._run_module_as_main  # type: ignore[attr-defined]
    _run(lambda: main(name, alter_argv), lambda code: code is main.__code__)


def _absolute(path: str) -> str:
    """`path` made absolute as Python does for scripts: neither links nor `..` are resolved."""
    return os.path.join(_current_folder(), path)  # noqa: PTH118


def _current_folder() -> str:
    """The folder that the process is in; empty if it was removed, in which Python runs programs all the same."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""


def _set_path(entry: str) -> None:
    """Put `entry`, if any, where python puts a script's folder: in place of ours, if it has put one there.

    It puts none with -P or -I, nor with -m in a folder that was removed.
    """
    by_module = sys.modules["__main__"].__spec__ is not None
    ours = 0 if sys.flags.safe_path or (by_module and not _current_folder()) else 1
    entries, others = [entry] if entry else [], sys.path[ours:]
    try:
        keep_shadowed(entries, others)
    except our_errors() as error:  # the program must run even where it cannot be debugged
        _report("keep modules apart of which the program has others by the same names", error)
    sys.path[:] = [*entries, *others]


def _unless_safe(entry: str) -> str:
    """`entry`, which python leaves out with -P or -I; the folders and archives that it runs it does not."""
    return "" if sys.flags.safe_path else entry


def _new_main() -> ModuleType:
    """Install a fresh `__main__` module, so that pickle finds the program's classes there, and nothing of ours."""
    _our_main.append(sys.modules["__main__"])
    started_by(_starting_files())
    main = sys.modules["__main__"] = ModuleType("__main__")
    if sys.version_info < (3, 14):  # from 3.14 on annotations are evaluated lazily
        vars(main)["__annotations__"] = {}
    vars(main)["__builtins__"] = sys.modules["builtins"]
    return main


def _starting_files() -> set[str]:
    """The files of the frames on the stack now: those that started this package, such as runpy."""
    found = set()
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        found.add(frame.f_code.co_filename)
    return found


def _run(start: Callable[[], object], begins: Callable[[CodeType], bool]) -> None:
    """Call `start`; an exception propagates, but is shown only from the first frame whose code `begins` accepts."""
    try:
        start()
    except SystemExit:
        raise
    except BaseException as error:
        if isinstance(error, Exception):
            _program_fails(error)
        _hide_frames(error, begins)
        raise


def _hide_frames(error: BaseException, begins: Callable[[CodeType], bool]) -> None:
    """Have our own frames left out when the interpreter shows `error`, by whatever hook the program has set."""
    theirs = sys.excepthook

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        sys.excepthook = theirs
        if value is error:
            value.__traceback__ = _from_frame(trace, begins)
            leave_out_our_frames(value)
            trace = sys.last_traceback = value.__traceback__
        theirs(kind, value, trace)

    sys.excepthook = hook


def _from_frame(trace: TracebackType | None, begins: Callable[[CodeType], bool]) -> TracebackType | None:
    """`trace` from the first frame under `_run` whose code `begins`; None when the program never ran."""
    for wanted in (lambda code: code is _run.__code__, begins):
        while trace is not None and not wanted(trace.tb_frame.f_code):
            trace = trace.tb_next
    return trace
