"""Messages that a Ctrl-C of the program's breaks off."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator

import pytest

from tfdbg_cli.remote.channel import Channel

_MESSAGES = 300


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    """Both ends of a connection."""
    first, second = (Channel(one) for one in socket.socketpair())
    yield first, second
    first.close()
    second.close()


class _Reader:
    """Somebody at the other end, who presses Ctrl-C at the program as soon as a message is there."""

    def __init__(self, channel: Channel) -> None:
        self.read: set[int] = set()
        self.said_goodbye = False
        self._channel = channel
        self._main = threading.main_thread().ident or 0
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while (message := self._channel.receive()) is not None:
            if message["kind"] == "bye":
                self.said_goodbye = True
                return
            self.read.add(message["number"])
            signal.pthread_kill(self._main, signal.SIGINT)


def test_a_message_that_was_sent_as_a_whole_leaves_the_connection_as_it_is(ends: tuple[Channel, Channel]) -> None:
    """The one who had read it was told that the connection was lost, and not how the program ended."""
    mine, other = ends
    reader = _Reader(other)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    reader.thread.start()
    sent = 0
    try:
        while sent < _MESSAGES:
            try:
                mine.send("text", number=sent)
                sent += 1
                while sent not in reader.read:  # until the Ctrl-C comes
                    pass
            except KeyboardInterrupt:
                sent = max(sent, len(reader.read))
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        mine.send("bye", patience=5.0)
        reader.thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
        mine.end()
    assert reader.said_goodbye
    assert reader.read >= set(range(_MESSAGES - 1))
