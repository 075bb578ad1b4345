"""One connection: messages both ways. It never keeps its user waiting longer than it says."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections import deque
from contextlib import suppress
from typing import Any

from tfdbg_cli.process.own_descriptor import OwnSocket
from tfdbg_cli.remote.messages import MOST_BYTES, BrokenMessageError, Message, Unpacker, packed

_PIECE = 1 << 16
NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)  # a program may have SIGPIPE end it
# Seconds, after which a peer that the network has lost is given up: it would keep a program waiting at its prompt.
_ALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
_MOST_UNHEARD = 60_000  # milliseconds


class Channel:
    """Messages over `connection`. One thread receives; several may send."""

    def __init__(self, connection: socket.socket, most: int = MOST_BYTES) -> None:
        self._own = OwnSocket(connection)
        self._unpacker = Unpacker(most)
        self._came: deque[Message] = deque()
        self._sending = threading.Lock()
        connection.setblocking(True)
        if connection.family != socket.AF_UNIX:
            _notice_loss(connection)

    def trust(self) -> None:
        """Take messages of any length that the protocol allows, from now on."""
        self._unpacker.most = MOST_BYTES

    def receive(self, patience: float | None = None) -> Message | None:
        """The next message; None when no more will come, or none came within `patience` seconds.

        Raises:
            BrokenMessageError: what came is no message.

        """
        until = None if patience is None else time.monotonic() + patience
        while not self._came:
            if until is not None and not self._ready(select.POLLIN, max(0.0, until - time.monotonic())):
                return None
            try:
                data = self._own.ours.recv(_PIECE)
            except OSError:
                return None
            if not data:
                return None
            self._came.extend(self._unpacker.take(data))
        return self._came.popleft()

    def send(self, kind: str, *, patience: float | None = None, **facts: Any) -> None:
        """Send a message. One of which a part was sent ends the connection.

        Raises:
            OSError: the connection is lost, or the other side takes nothing for `patience` seconds.

        """
        data = memoryview(packed(kind, **facts))
        if patience is None:
            with self._sending:
                self._send_whole(data, None)
            return
        if not self._sending.acquire(timeout=patience):
            raise TimeoutError
        try:
            self._send_whole(data, patience)
        finally:
            self._sending.release()

    def _send_whole(self, data: memoryview, patience: float | None) -> None:
        sent: list[int] = []
        try:
            while (done := sum(sent)) < len(data):
                try:
                    # The program's Ctrl-C may break this off anywhere but between what is sent and what is noted.
                    sent.extend(map(self._own.ours.send, [data[done:]], [socket.MSG_DONTWAIT | NO_SIGNAL]))
                except BlockingIOError:
                    if not self._ready(select.POLLOUT, patience):
                        raise TimeoutError from None
        except BaseException as error:
            if isinstance(error, OSError) or 0 < sum(sent) < len(data):
                self.end()
            raise

    def end(self) -> None:
        """End the connection, for both sides: whoever receives here gets None."""
        with suppress(OSError):
            self._own.ours.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the descriptor back; the other side is not told, where a parent process has the connection, too."""
        self._own.close()

    def _ready(self, event: int, patience: float | None) -> bool:
        poll = select.poll()
        try:
            poll.register(self._own.ours, event)
            return bool(poll.poll(None if patience is None else patience * 1000))
        except (OSError, ValueError):
            return True  # what is wrong shows at the next call


def received(channel: Channel) -> Message | None:
    """The next message of `channel`; None also where what came is none, as nothing behind it can be trusted."""
    try:
        return channel.receive()
    except BrokenMessageError:
        return None


def _notice_loss(connection: socket.socket) -> None:
    """Have the system notice that the other side is gone, where it knows how to."""
    with suppress(OSError):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _ALIVE.items():
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _MOST_UNHEARD)
