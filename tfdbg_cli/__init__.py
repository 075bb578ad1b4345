"""tfdbg: the terminal debugger for TensorFlow.

`import tfdbg_cli as tf_debug` stands in for `from tensorflow.python import debug as tf_debug`. Importing it loads
neither TensorFlow nor a front end; each name below is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfdbg_cli.version import __version__

if TYPE_CHECKING:
    from tfdbg_cli.analysis.watch.filters import has_inf_or_nan
    from tfdbg_cli.api.base_wrapper import BaseDebugWrapperSession, NonInteractiveDebugWrapperSession
    from tfdbg_cli.api.keras_callback import DebuggerCallback
    from tfdbg_cli.api.notebook import load_ipython_extension
    from tfdbg_cli.api.process import (
        add_tensor_filter,
        debugging,
        disable,
        enable,
        record,
        run,
        set_watch,
        stop,
        stop_recording,
        wrap_function,
    )
    from tfdbg_cli.api.recordings import Recording, SavedTensor, SavedTensors, open_recording
    from tfdbg_cli.api.remote_wrappers import (
        GrpcDebugHook,
        GrpcDebugWrapperSession,
        TensorBoardDebugHook,
        TensorBoardDebugWrapperSession,
    )
    from tfdbg_cli.api.run_callbacks import (
        OnRunEndRequest,
        OnRunEndResponse,
        OnRunStartAction,
        OnRunStartRequest,
        OnRunStartResponse,
        OnSessionInitAction,
        OnSessionInitRequest,
        OnSessionInitResponse,
    )
    from tfdbg_cli.api.wrappers import (
        DumpingDebugHook,
        DumpingDebugWrapperSession,
        LocalCLIDebugHook,
        LocalCLIDebugWrapperSession,
    )
    from tfdbg_cli.capture.debug_options import (
        WatchOptions,
        add_debug_tensor_watch,
        watch_graph,
        watch_graph_with_denylists,
    )
    from tfdbg_cli.capture.sessions.gradients import GradientsDebugger, clear_gradient_debuggers
    from tfdbg_cli.debug_data import (
        DebugDumpDir,
        DebugTensorDatum,
        gradient_values_from_dump,
        load_tensor_from_event,
        load_tensor_from_event_file,
        reconstruct_non_debug_graph_def,
    )
    from tfdbg_cli.errors import TfdbgError

__all__ = [
    "BaseDebugWrapperSession",
    "DebugDumpDir",
    "DebugTensorDatum",
    "DebuggerCallback",
    "DumpingDebugHook",
    "DumpingDebugWrapperSession",
    "GradientsDebugger",
    "GrpcDebugHook",
    "GrpcDebugWrapperSession",
    "LocalCLIDebugHook",
    "LocalCLIDebugWrapperSession",
    "NonInteractiveDebugWrapperSession",
    "OnRunEndRequest",
    "OnRunEndResponse",
    "OnRunStartAction",
    "OnRunStartRequest",
    "OnRunStartResponse",
    "OnSessionInitAction",
    "OnSessionInitRequest",
    "OnSessionInitResponse",
    "Recording",
    "SavedTensor",
    "SavedTensors",
    "TensorBoardDebugHook",
    "TensorBoardDebugWrapperSession",
    "TfdbgError",
    "WatchOptions",
    "__version__",
    "add_debug_tensor_watch",
    "add_tensor_filter",
    "clear_gradient_debuggers",
    "debugging",
    "disable",
    "enable",
    "gradient_values_from_dump",
    "has_inf_or_nan",
    "load_ipython_extension",
    "load_tensor_from_event",
    "load_tensor_from_event_file",
    "open_recording",
    "reconstruct_non_debug_graph_def",
    "record",
    "run",
    "set_watch",
    "stop",
    "stop_recording",
    "watch_graph",
    "watch_graph_with_denylists",
    "wrap_function",
]

# Where each public name is, and what it is called there.
_PLACES = {
    "BaseDebugWrapperSession": ("api.base_wrapper", "BaseDebugWrapperSession"),
    "DebugDumpDir": ("debug_data", "DebugDumpDir"),
    "DebugTensorDatum": ("debug_data", "DebugTensorDatum"),
    "DebuggerCallback": ("api.keras_callback", "DebuggerCallback"),
    "DumpingDebugHook": ("api.wrappers", "DumpingDebugHook"),
    "DumpingDebugWrapperSession": ("api.wrappers", "DumpingDebugWrapperSession"),
    "GradientsDebugger": ("capture.sessions.gradients", "GradientsDebugger"),
    "GrpcDebugHook": ("api.remote_wrappers", "GrpcDebugHook"),
    "GrpcDebugWrapperSession": ("api.remote_wrappers", "GrpcDebugWrapperSession"),
    "LocalCLIDebugHook": ("api.wrappers", "LocalCLIDebugHook"),
    "LocalCLIDebugWrapperSession": ("api.wrappers", "LocalCLIDebugWrapperSession"),
    "NonInteractiveDebugWrapperSession": ("api.base_wrapper", "NonInteractiveDebugWrapperSession"),
    "OnRunEndRequest": ("api.run_callbacks", "OnRunEndRequest"),
    "OnRunEndResponse": ("api.run_callbacks", "OnRunEndResponse"),
    "OnRunStartAction": ("api.run_callbacks", "OnRunStartAction"),
    "OnRunStartRequest": ("api.run_callbacks", "OnRunStartRequest"),
    "OnRunStartResponse": ("api.run_callbacks", "OnRunStartResponse"),
    "OnSessionInitAction": ("api.run_callbacks", "OnSessionInitAction"),
    "OnSessionInitRequest": ("api.run_callbacks", "OnSessionInitRequest"),
    "OnSessionInitResponse": ("api.run_callbacks", "OnSessionInitResponse"),
    "Recording": ("api.recordings", "Recording"),
    "SavedTensor": ("api.recordings", "SavedTensor"),
    "SavedTensors": ("api.recordings", "SavedTensors"),
    "TensorBoardDebugHook": ("api.remote_wrappers", "TensorBoardDebugHook"),
    "TensorBoardDebugWrapperSession": ("api.remote_wrappers", "TensorBoardDebugWrapperSession"),
    "TfdbgError": ("errors", "TfdbgError"),
    "WatchOptions": ("capture.debug_options", "WatchOptions"),
    "add_debug_tensor_watch": ("capture.debug_options", "add_debug_tensor_watch"),
    "add_tensor_filter": ("api.process", "add_tensor_filter"),
    "clear_gradient_debuggers": ("capture.sessions.gradients", "clear_gradient_debuggers"),
    "debugging": ("api.process", "debugging"),
    "disable": ("api.process", "disable"),
    "enable": ("api.process", "enable"),
    "gradient_values_from_dump": ("debug_data", "gradient_values_from_dump"),
    "has_inf_or_nan": ("analysis.watch.filters", "has_inf_or_nan"),
    "load_ipython_extension": ("api.notebook", "load_ipython_extension"),
    "load_tensor_from_event": ("debug_data", "load_tensor_from_event"),
    "load_tensor_from_event_file": ("debug_data", "load_tensor_from_event_file"),
    "open_recording": ("api.recordings", "open_recording"),
    "reconstruct_non_debug_graph_def": ("debug_data", "reconstruct_non_debug_graph_def"),
    "record": ("api.process", "record"),
    "run": ("api.process", "run"),
    "set_watch": ("api.process", "set_watch"),
    "stop": ("api.process", "stop"),
    "stop_recording": ("api.process", "stop_recording"),
    "watch_graph": ("capture.debug_options", "watch_graph"),
    "watch_graph_with_denylists": ("capture.debug_options", "watch_graph_with_denylists"),
    "wrap_function": ("api.process", "wrap_function"),
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PLACES[name]
    found = globals()[name] = getattr(import_module(f"{__name__}.{module}"), attribute)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
