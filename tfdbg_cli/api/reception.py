"""A program that listens for `tfdbg attach`, from its launch to its end."""

from __future__ import annotations

import os
import socket
import time

from tfdbg_cli.capture.failures import report
from tfdbg_cli.process.interruptions import OUR_ERRORS_SUPPRESSED, our_errors
from tfdbg_cli.process.program_end import at_the_end
from tfdbg_cli.process.streams import to_stderr
from tfdbg_cli.remote.address import Address
from tfdbg_cli.remote.listener import Listener
from tfdbg_cli.remote.meeting_place import Job, Meeting, listen
from tfdbg_cli.remote.seat import Seat
from tfdbg_cli.remote.token import VARIABLE, given_token, token_for_listening
from tfdbg_cli.version import __version__

_LONGEST_WAIT = 5.0  # seconds that a fork waits for what a thread of ours does to the debuggers
_OPEN = (
    "Whoever reaches that address and has the token can look at the program and end it; nothing that goes over the"
    " network is encrypted."
)


class Reception:
    """Listens on a socket of the network at `address`, or on one that only this user can reach, or both.

    A `dormant` program is not debugged while nobody is attached: TensorFlow's classes are as they are without tfdbg.
    One that `waits` stays at what its watch found until somebody has decided how it goes on. The user's own socket
    is there for both of them; of those that wait only if there is no address.
    """

    def __init__(self, name: str, address: Address | None, *, dormant: bool, waits: bool, path: str = "") -> None:
        """Begin to listen; nobody is answered before `open`. `path` is the whole path of the program's script.

        Raises:
            TfdbgError: it cannot be listened there.

        """
        self.seat = Seat(waits=waits)
        self.dormant = dormant
        self.code: int | None = None  # with which the program ends, once that is known
        self._process = os.getpid()
        self._job = Job(name, self._process, time.time(), path)
        self._token = token_for_listening() if address is not None else ""
        sockets: list[socket.socket] = []
        self._told: list[str] = []
        if address is not None:
            made = address.listen()
            sockets.append(made)
            at = Address(address.host, made.getsockname()[1])
            self._told += self._at_address(at)
        self._meeting: Meeting | None = None
        if dormant or address is None:
            made, self._meeting = listen(self._job)
            sockets.append(made)
            how = f"tfdbg attach {self._meeting.number}"
            where = f"istening at {self._meeting.path}; `{how}` attaches."
            self._told.append(f"Dormant: l{where}" if dormant else f"L{where}")
            self.seat.how = how
        program = {"name": name, "pid": self._process, "tfdbg": __version__}
        self._listener = Listener(sockets, self.seat, self, self._token, program)
        self._imported = False  # whether TensorFlow is there
        self._enabled = False
        self._held = False

    def open(self) -> None:
        """Say where the program listens, and answer whoever comes, until the program ends."""
        for sentence in self._told:
            to_stderr(sentence)
        os.register_at_fork(before=self._before_fork, after_in_parent=self._after_fork, after_in_child=self._in_child)
        at_the_end(self._program_ends)
        self._listener.start()

    def tensorflow_is_there(self) -> None:
        """Called once TensorFlow is imported, by the thread that imports it: a visitor may wait for that."""
        with self.seat.lock:
            self._imported = True
            if self.seat.visitor is not None:
                self._enable()

    def comes(self) -> None:
        """See `listener.Host`."""
        with self.seat.lock:
            if self.dormant and self._imported:
                self._enable()

    def leaves(self, *, decided: bool) -> None:
        """See `listener.Host`."""
        with self.seat.lock:
            self.seat.free()
            if self._enabled:
                self._disable()
            elif decided:
                self.seat.call()

    def _at_address(self, at: Address) -> list[str]:
        """How to attach there, in sentences."""
        how = f"tfdbg attach {at.reachable}"
        how = f"{how} (its token is that in {VARIABLE})" if given_token() else f"{how} --token {self._token}"
        self.seat.how = how
        return [f"Listening on {at}. To attach: {how}", *([] if at.here else [_OPEN])]

    def _enable(self) -> None:
        if self._enabled:
            return
        try:
            from tfdbg_cli.api.process_debugger import process_debugger  # loads TensorFlow

            process_debugger().enable()
            self._enabled = True
        except our_errors() as error:  # the program must go on
            report("debug the runs of this program", error)

    def _disable(self) -> None:
        from tfdbg_cli.api.process_debugger import process_debugger

        self._enabled = False
        try:
            process_debugger().disable()
        except our_errors() as error:
            report("leave the runs of this program alone", error)

    def _before_fork(self) -> None:
        self._held = self.seat.lock.acquire(timeout=_LONGEST_WAIT)

    def _after_fork(self) -> None:
        if self._held:
            self.seat.lock.release()

    def _in_child(self) -> None:
        """In a forked child: close the copy of the parent's listener, and forget its visitor."""
        self._after_fork()
        self._listener.close()
        visitor, self.seat.visitor = self.seat.visitor, None
        if visitor is not None:
            visitor.forget()

    def _program_ends(self) -> None:
        if os.getpid() != self._process:
            return
        if self._meeting is not None:
            self._meeting.remove()
        visitor = self.seat.visitor
        if visitor is not None:
            with OUR_ERRORS_SUPPRESSED:
                visitor.tell("ended", code=self.code)
