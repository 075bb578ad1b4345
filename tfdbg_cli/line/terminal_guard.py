"""Gives a divided terminal back when the program was stopped or killed, and could not do so itself."""

from __future__ import annotations

import os
from contextlib import suppress
from fcntl import F_DUPFD_CLOEXEC, fcntl

from tfdbg_cli.line.bottom_lines import GIVEN_BACK
from tfdbg_cli.process.own_descriptor import OwnDescriptor

_OUT_OF_THE_WAY = 10  # file descriptors from this on
_DIVIDED, _WHOLE = b"1\n", b"0\n"
# A shell, and not Python: it is small, and `pkill -f` of the program's name does not meet it.
_SHELL = "/bin/sh"
_WAITS = """trap '' INT TERM HUP TTOU
while read -r said; do
    case $said in
    0 | 1) last=$said ;;
    Stack*) [ "$last" = 1 ] && printf %s "$1"; last=0; echo >&3 ;;
    esac
done
[ "$last" = 1 ] && printf %s "$1"
"""


class TerminalGuard:
    """A process that waits until this one ends, or `faulthandler` writes into `pipe` because it is being stopped.

    `stops` is where it can be read that there was such a stop. It is no child of this process, so that a program that
    waits for its children does not meet it, and it holds no file of the program's but the terminal.
    """

    def __init__(self, descriptor: int) -> None:
        """Begin it for the terminal `descriptor`. To be called while there is one thread.

        Raises:
            OSError: there can be no more processes.

        """
        reading, pipe = os.pipe()
        stops, stopped = os.pipe()
        self.pipe, self.stops = OwnDescriptor(pipe), OwnDescriptor(stops)
        child = os.fork()
        if child == 0:
            try:
                os.setsid()  # no signals of the terminal come there, from the beginning
                if os.fork() == 0:
                    _wait(descriptor, reading, stopped)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(stopped)

    def tell(self, divided: bool) -> None:
        """Say whether there is something to give back."""
        with suppress(OSError):
            os.write(self.pipe.number, _DIVIDED if divided else _WHOLE)


def _wait(descriptor: int, reading: int, stopped: int) -> None:
    # Copies that are in nobody's way: a program may have closed what has these numbers, and to copy one onto itself
    # does not have the shell inherit it.
    given = [fcntl(one, F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY) for one in (reading, descriptor, descriptor, stopped)]
    for number, one in enumerate(given):
        os.dup2(one, number)
    os.closerange(4, min(os.sysconf("SC_OPEN_MAX"), 1 << 16))
    os.execv(_SHELL, ["sh", "-c", _WAITS, "tfdbg-live", GIVEN_BACK])
