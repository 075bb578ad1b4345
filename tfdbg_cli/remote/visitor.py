"""Somebody who is attached: what they want, and what they say at a prompt."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from tfdbg_cli.remote.channel import Channel
from tfdbg_cli.remote.messages import Message, number_in

if TYPE_CHECKING:
    from tfdbg_cli.line.output import LineOutput

_PATIENCE = 5.0  # seconds for which a running program waits for somebody who takes nothing
_NARROWEST, _WIDEST = 20, 1000  # columns
_MOST_WAITING = 1000  # messages that no prompt has taken


@dataclass(frozen=True, slots=True)
class Wishes:
    """How the prompt of a visitor is: as that of the same front end at a terminal, in a script, behind a pipe."""

    interactive: bool
    echoes: bool
    opening: bool  # whether the first screen of a stop is wanted
    json: bool
    color: bool

    @classmethod
    def told(cls, message: Message) -> Wishes:
        """What `message` says; what it does not say is not wanted."""
        names = ("interactive", "echoes", "opening", "json", "color")
        return cls(*(message.get(name) is True for name in names))


class Visitor:
    """Somebody attached by `channel`, whose first message was `hello`.

    Messages are received by one thread, which puts here what is for the prompt; the program's threads take it.
    """

    def __init__(self, channel: Channel, hello: Message) -> None:
        self.wishes = Wishes.told(hello)
        self.width: int | None = None
        self.gone = False
        self.failures = 0  # of commands
        self.decides = False  # whether the program goes on as they decided, and not as before they came
        self.farewell = ""  # what is said when they leave, where that is not what they expect
        self.output: LineOutput | None = None  # that of the stops before
        self.talking = threading.Lock()  # held while a prompt is open
        self._channel = channel
        self._said: SimpleQueue[Message | None] = SimpleQueue()
        self.heed(hello)

    def send(self, kind: str, **facts: Any) -> None:
        """Send a message from an open prompt.

        Raises:
            BrokenPipeError: nobody is there any more.

        """
        try:
            self._channel.send(kind, **facts)
        except OSError:
            raise BrokenPipeError from None

    def tell(self, kind: str, **facts: Any) -> None:
        """Send a message while the program goes on; where that takes long, nobody is there any more."""
        with suppress(OSError):
            self._channel.send(kind, patience=_PATIENCE, **facts)

    def put(self, message: Message) -> bool:
        """Hand `message` to the prompt; False where too many wait already."""
        self._said.put(message)
        return self._said.qsize() <= _MOST_WAITING

    def said(self) -> Message:
        """What is said next at the open prompt; waits for it.

        Raises:
            BrokenPipeError: the visitor has gone.

        """
        message = self._said.get()
        if message is None:
            self._said.put(None)
            raise BrokenPipeError
        return message

    def leaves(self) -> None:
        """Note that nothing more will come."""
        self.gone = True
        self._said.put(None)

    def dismiss(self) -> None:
        """End the connection: the visitor is not needed any more."""
        self.gone = True
        self._channel.end()

    def heed(self, message: Message) -> None:
        """Take the width of the visitor's terminal from `message`, if it tells."""
        width = number_in(message, "width")
        if width is not None:
            self.width = max(_NARROWEST, min(width, _WIDEST))

    def forget(self) -> None:
        """Close what a forked child has of the connection, which is its parent's."""
        self.gone = True
        self._channel.close()
