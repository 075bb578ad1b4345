"""The gRPC service `tensorflow.EventListener`: messages in, answers out, as bytes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures.thread import ThreadPoolExecutor
from time import sleep
from typing import Any

from tfdbg_cli.capture.failures import report_once
from tfdbg_cli.debug_server.arrivals import Arrivals
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.streamed.assembly import Assembly
from tfdbg_cli.formats.streamed.known_graphs import KnownGraphs
from tfdbg_cli.formats.streamed.pieces import DamagedEventError
from tfdbg_cli.formats.streamed.replies import UNDERSTOOD, bare_answer
from tfdbg_cli.formats.streamed.room import Room
from tfdbg_cli.formats.streamed.told_code import ToldCode
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.remote.address import Address

_SERVICE = "tensorflow.EventListener"
_STREAMS = 32  # at once; further ones wait
_LONGEST = 1 << 26  # bytes of one message: TensorFlow cuts at 4 MB, but for single strings and tracebacks
_WITHOUT = "`tfdbg listen` needs grpcio, which is not installed here."
_HINT = "Write: pip install 'tfdbg-cli[listen]', or pip install grpcio"
_GRACE = 1.0  # seconds
_MOMENT = 0.2
_LAG = 0.1  # what is under way in another connection when a run has ended


class Service:
    """Listens at `address`, and has the runs that come in `arrivals`; what is held of them has to have `room`."""

    def __init__(self, address: Address, arrivals: Arrivals, room: Room) -> None:
        """Begin to listen.

        Raises:
            TfdbgError: grpcio is missing, or it cannot listen there.

        """
        self._arrivals = arrivals
        self._room = room
        self._graphs = KnownGraphs()
        self._code = ToldCode()
        self._open: set[Assembly] = set()
        try:
            import grpc
        except ImportError:
            raise TfdbgError(_WITHOUT, hint=_HINT, exit_code=2) from None
        address.listen().close()  # says why it cannot, which gRPC does not
        # Without reuse of ports a second `tfdbg listen` would take every other stream.
        options = [("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", _LONGEST)]
        self._server = grpc.server(ThreadPoolExecutor(_STREAMS, "tfdbg-stream"), options=options)
        handlers = {
            "SendEvents": grpc.stream_stream_rpc_method_handler(self._events),
            "SendTracebacks": grpc.unary_unary_rpc_method_handler(self._tracebacks),
            "SendSourceFiles": grpc.unary_unary_rpc_method_handler(self._sources),
        }
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, handlers),))
        try:
            port = self._server.add_insecure_port(str(address))
        except RuntimeError:
            port = 0
        if not port:
            raise TfdbgError(f"Cannot listen on {address}.", exit_code=2)
        self.address = Address(address.host, port)
        self._server.start()

    def take_no_more(self) -> None:
        """Keep nothing, take no new stream, and answer those that are open until they end."""
        self._arrivals.ignore()
        self._server.stop(threading.TIMEOUT_MAX)

    def stop(self) -> None:
        """Listen no more, and cut off what is still under way."""
        self._arrivals.ignore()
        self._server.stop(_GRACE).wait()

    def _events(self, messages: Iterator[bytes], context: Any) -> Iterator[bytes]:
        with self._arrivals.stream():
            assembly = Assembly(context.peer(), self._room, self._graphs, self._code)
            gone = threading.Event()
            context.add_callback(gone.set)
            context.add_callback(lambda: self._open.discard(assembly))
            self._open.add(assembly)
            try:
                for message in _arriving(messages, assembly):
                    reply = bare_answer(message) if self._arrivals.ignored else _heard(assembly, message)
                    if reply is not None:
                        yield reply
            except GeneratorExit:  # the other side went while it was answered: nobody waits for the end of the stream
                assembly.break_off()
                self._arrivals.leave(assembly)
                raise
            self._open.discard(assembly)
            self._join_workers(assembly)
            # A connection that is lost ends the messages, and is told of a moment later.
            if gone.wait(_MOMENT if assembly.lacks_results else 0):
                assembly.break_off()
            self._arrivals.hold(assembly)

    def _join_workers(self, assembly: Assembly) -> None:
        """Add what other workers of the same job have sent by now, in streams that go on."""
        workers = [other for other in tuple(self._open) if assembly.shares_job(other)]
        if workers:
            sleep(_LAG)
        for other in workers:
            assembly.absorb(other)

    def _tracebacks(self, message: bytes, context: Any) -> bytes:
        return self._heard_code(self._code.hear_tracebacks, context.peer(), message)

    def _sources(self, message: bytes, context: Any) -> bytes:
        return self._heard_code(self._code.hear_sources, context.peer(), message)

    def _heard_code(self, hear: Callable[[str, bytes], None], peer: str, message: bytes) -> bytes:
        """Have `hear` take in what `peer` says of its code; what it cannot take in is missing in what is shown."""
        if not self._arrivals.ignored:
            try:
                hear(peer, message)
            except DamagedEventError:
                return UNDERSTOOD
            except our_errors() as error:
                report_once("take in the code of a program", error)
        return UNDERSTOOD


def _arriving(messages: Iterator[bytes], assembly: Assembly) -> Iterator[bytes]:
    """The `messages` of a stream, to its end or until the other side is gone."""
    try:
        yield from messages
    except Exception:  # noqa: BLE001  # gRPC says so in several ways
        assembly.break_off()


def _heard(assembly: Assembly, message: bytes) -> bytes | None:
    """What `assembly` answers to `message`. Of a bug of ours the program that sends notices nothing."""
    try:
        return assembly.hear(message)
    except our_errors() as error:
        report_once("take in what a program sent", error)
        assembly.note_failure()
        return bare_answer(message)
