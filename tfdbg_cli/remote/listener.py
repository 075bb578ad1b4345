"""The threads that listen: who comes is asked for the token, and then given the seat."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from tfdbg_cli.process.own_descriptor import LostDescriptorError, OwnSocket
from tfdbg_cli.remote.channel import NO_SIGNAL, Channel, received
from tfdbg_cli.remote.messages import MOST_AT_FIRST, VERSION, BrokenMessageError, Message, packed, text_in
from tfdbg_cli.remote.prompt import farewell
from tfdbg_cli.remote.seat import Seat
from tfdbg_cli.remote.threads import start_thread
from tfdbg_cli.remote.token import is_same
from tfdbg_cli.remote.visitor import Visitor
from tfdbg_cli.version import __version__

_NAME = "tfdbg-attach"  # of the threads
_FIRST_WORD = 10.0  # seconds that somebody has to say who they are
_DELAY = 0.5  # before a wrong token is refused
_PATIENCE = 5.0
_LOOK = 5_000  # milliseconds between two looks at whether the program has closed our sockets
_MOST_AT_ONCE = 8  # connections that have not said yet who they are, and the one that has
_BAD_TOKEN = "The token is missing or wrong."
_FULL = "Too many connections wait at this program."
_TAKEN = "Somebody is attached to this program already."


class Host(Protocol):
    """What the program does for its visitors. Called in threads of ours."""

    def comes(self) -> None:
        """Somebody has the seat: have runs debugged, if they are not."""
        ...

    def leaves(self, *, decided: bool) -> None:
        """They have gone; `decided` says that the program goes on as they said."""
        ...


class Listener:
    """Listens at `sockets`, and asks for `token` where somebody comes from the network."""

    def __init__(
        self, sockets: Sequence[socket.socket], seat: Seat, host: Host, token: str, program: Message
    ) -> None:
        self._sockets = [OwnSocket(one) for one in sockets]
        self._seat = seat
        self._host = host
        self._token = token
        self._program = program
        self._room = threading.BoundedSemaphore(_MOST_AT_ONCE)

    def start(self) -> None:
        """Listen in a thread that does not keep the program alive."""
        start_thread(self._listen, _NAME)

    def close(self) -> None:
        """Listen no more."""
        for one in self._sockets:
            one.close()

    def _listen(self) -> None:
        poll = select.poll()  # it takes no descriptor of its own
        try:
            for one in self._sockets:
                one.plain.setblocking(False)
                poll.register(one.plain, select.POLLIN)
            while True:
                poll.poll(_LOOK)
                for one in self._sockets:
                    self._accept(one)
        except (OSError, ValueError):  # closed: the program is at its end
            return

    def _accept(self, listening: OwnSocket) -> None:
        try:
            connection, _ = listening.ours.accept()
        except BlockingIOError:
            return
        except LostDescriptorError:
            raise
        except OSError:
            if listening.plain.fileno() < 0:
                raise
            time.sleep(_DELAY)  # too many files are open: others may close theirs
            return
        if not self._room.acquire(blocking=False):
            _turn_away(connection)
            return
        start_thread(lambda: self._serve(connection), _NAME)

    def _serve(self, connection: socket.socket) -> None:
        channel = Channel(connection, MOST_AT_FIRST)
        try:
            with suppress(OSError, BrokenMessageError):
                self._meet(channel, asks=connection.family != socket.AF_UNIX)
        finally:
            channel.end()
            channel.close()
            self._room.release()

    def _meet(self, channel: Channel, *, asks: bool) -> None:
        try:
            hello = channel.receive(_FIRST_WORD)
        except BrokenMessageError:
            hello = None
        if asks and not is_same(self._token, text_in(hello or {}, "token")):
            time.sleep(_DELAY)
            channel.send("refused", patience=_PATIENCE, text=_BAD_TOKEN)
            return
        if hello is None or hello["kind"] != "hello":
            return
        if hello.get("version") != VERSION:
            said = f"The program speaks version {VERSION} of the protocol: its tfdbg is {__version__}."
            channel.send("refused", patience=_PATIENCE, text=said)
            return
        visitor = Visitor(channel, hello)
        with visitor.talking:  # a prompt that opens at once speaks after this, and with all debuggers called
            if not self._seat.take(visitor):
                channel.send("refused", patience=_PATIENCE, text=_TAKEN)
                return
            channel.trust()
            with suppress(OSError):  # who is gone already is met below
                channel.send("welcome", patience=_PATIENCE, version=VERSION, **self._program)
                channel.send("waits", patience=_PATIENCE, standing=self._seat.standing)
        try:
            self._attend(channel, visitor)
        finally:
            visitor.leaves()
            with visitor.talking:
                with suppress(OSError):
                    farewell(visitor)
                visitor.tell("bye", text=visitor.farewell)
                decided = visitor.decides
            self._host.leaves(decided=decided)

    def _attend(self, channel: Channel, visitor: Visitor) -> None:
        self._host.comes()
        while (message := received(channel)) is not None:
            match message["kind"]:
                case "leave":
                    return
                case "stop":
                    self._seat.call()
                case _:
                    if not visitor.put(message):
                        return


def _turn_away(connection: socket.socket) -> None:
    """Say that there is no room, and end `connection`. Waits for nothing."""
    with connection:
        connection.setblocking(False)
        with suppress(OSError):  # what is not read would have the system end the connection before our word is read
            connection.recv(MOST_AT_FIRST)
        with suppress(OSError):
            connection.send(packed("refused", text=_FULL), NO_SIGNAL)
            connection.shutdown(socket.SHUT_WR)
