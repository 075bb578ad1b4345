"""The names by which TensorFlow's debugger streams runs to a server, which tfdbg does not: what to use instead."""

from __future__ import annotations

from typing import Any

from tfdbg_cli.errors import TfdbgError

_RECEIVED = "`tfdbg listen HOST:PORT` receives what TensorFlow's own {} sends (tensorflow.python.debug)."


class _Replaced:
    """Stands for a class of TensorFlow's; making one is refused with a sentence."""

    _instead = ""

    def _refuse(self) -> TfdbgError:
        name = type(self).__name__
        hint = f"{self._instead} {_RECEIVED.format(name)}"
        return TfdbgError(f"tfdbg has no {name}: it sends nothing to a server.", hint=hint)


class GrpcDebugWrapperSession(_Replaced):
    """Use DumpingDebugWrapperSession, or LocalCLIDebugWrapperSession at the terminal of the program."""

    _instead = (
        "DumpingDebugWrapperSession writes the same tensors into a folder, which `tfdbg open FOLDER` shows anywhere."
    )

    def __init__(
        self,
        sess: Any,
        grpc_debug_server_addresses: Any,
        watch_fn: Any = None,
        thread_name_filter: str | None = None,
    ) -> None:
        """Refuse.

        Raises:
            TfdbgError: always; the hint says what to use instead.

        """
        raise self._refuse()


class TensorBoardDebugWrapperSession(_Replaced):
    """Use LocalCLIDebugWrapperSession, which shows at the terminal what the plugin showed in a browser."""

    _instead = (
        "LocalCLIDebugWrapperSession shows at the terminal what the Debugger plugin showed, which TensorBoard no "
        "longer has."
    )

    def __init__(
        self,
        sess: Any,
        grpc_debug_server_addresses: Any,
        thread_name_filter: str | None = None,
        send_traceback_and_source_code: bool = True,
    ) -> None:
        """Refuse.

        Raises:
            TfdbgError: always; the hint says what to use instead.

        """
        raise self._refuse()


class GrpcDebugHook(_Replaced):
    """Use DumpingDebugHook, or LocalCLIDebugHook at the terminal of the program."""

    _instead = "DumpingDebugHook writes the same tensors into a folder, which `tfdbg open FOLDER` shows anywhere."

    def __init__(
        self, grpc_debug_server_addresses: Any, watch_fn: Any = None, thread_name_filter: str | None = None
    ) -> None:
        """Refuse.

        Raises:
            TfdbgError: always; the hint says what to use instead.

        """
        raise self._refuse()


class TensorBoardDebugHook(_Replaced):
    """Use LocalCLIDebugHook, which shows at the terminal what the plugin showed in a browser."""

    _instead = (
        "LocalCLIDebugHook shows at the terminal what the Debugger plugin showed, which TensorBoard no longer has."
    )

    def __init__(
        self,
        grpc_debug_server_addresses: Any,
        thread_name_filter: str | None = None,
        send_traceback_and_source_code: bool = True,
    ) -> None:
        """Refuse.

        Raises:
            TfdbgError: always; the hint says what to use instead.

        """
        raise self._refuse()
