"""tfdbg: the terminal debugger for TensorFlow.

`import tfdbg_cli as tf_debug` stands in for `from tensorflow.python import debug as tf_debug`. Importing it loads
neither TensorFlow nor a front end; each name below is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfdbg_cli.version import __version__

if TYPE_CHECKING:
    from tfdbg_cli.analysis.filters import has_inf_or_nan
    from tfdbg_cli.capture.session.watching import (
        WatchOptions,
        add_debug_tensor_watch,
        watch_graph,
        watch_graph_with_denylists,
    )
    from tfdbg_cli.errors import TfdbgError
    from tfdbg_cli.formats.opening import open_path as open_recording
    from tfdbg_cli.keras_callback import DebuggerCallback
    from tfdbg_cli.process import (
        add_tensor_filter,
        debugging,
        disable,
        enable,
        record,
        set_watch,
        stop,
        wrap_function,
    )
    from tfdbg_cli.wrappers import (
        DumpingDebugHook,
        DumpingDebugWrapperSession,
        LocalCLIDebugHook,
        LocalCLIDebugWrapperSession,
    )

__all__ = [
    "DebuggerCallback",
    "DumpingDebugHook",
    "DumpingDebugWrapperSession",
    "LocalCLIDebugHook",
    "LocalCLIDebugWrapperSession",
    "TfdbgError",
    "WatchOptions",
    "__version__",
    "add_debug_tensor_watch",
    "add_tensor_filter",
    "debugging",
    "disable",
    "enable",
    "has_inf_or_nan",
    "open_recording",
    "record",
    "set_watch",
    "stop",
    "watch_graph",
    "watch_graph_with_denylists",
    "wrap_function",
]

# Where each public name is, and what it is called there.
_PLACES = {
    "DebuggerCallback": ("keras_callback", "DebuggerCallback"),
    "DumpingDebugHook": ("wrappers", "DumpingDebugHook"),
    "DumpingDebugWrapperSession": ("wrappers", "DumpingDebugWrapperSession"),
    "LocalCLIDebugHook": ("wrappers", "LocalCLIDebugHook"),
    "LocalCLIDebugWrapperSession": ("wrappers", "LocalCLIDebugWrapperSession"),
    "TfdbgError": ("errors", "TfdbgError"),
    "WatchOptions": ("capture.session.watching", "WatchOptions"),
    "add_debug_tensor_watch": ("capture.session.watching", "add_debug_tensor_watch"),
    "add_tensor_filter": ("process", "add_tensor_filter"),
    "debugging": ("process", "debugging"),
    "disable": ("process", "disable"),
    "enable": ("process", "enable"),
    "has_inf_or_nan": ("analysis.filters", "has_inf_or_nan"),
    "open_recording": ("formats.opening", "open_path"),
    "record": ("process", "record"),
    "set_watch": ("process", "set_watch"),
    "stop": ("process", "stop"),
    "watch_graph": ("capture.session.watching", "watch_graph"),
    "watch_graph_with_denylists": ("capture.session.watching", "watch_graph_with_denylists"),
    "wrap_function": ("process", "wrap_function"),
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PLACES[name]
    found = globals()[name] = getattr(import_module(f"{__name__}.{module}"), attribute)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
