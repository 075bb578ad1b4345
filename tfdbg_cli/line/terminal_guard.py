"""Gives a divided terminal back when the program was killed, and could not do so itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from tfdbg_cli.line.bottom_lines import GIVEN_BACK

_DIVIDED, _WHOLE = b"1\n", b"0\n"
# A shell, and not Python: it is small, and `pkill -f` of the program's name does not meet it.
_SHELL = "/bin/sh"
_WAITS = """trap '' INT TERM HUP TTOU
while read -r said; do last=$said; done
[ "$last" = 1 ] && printf %s "$1"
"""


def guarded(descriptor: int) -> Callable[[bool], None]:
    """Begin a process that waits for the end of this one; what is returned tells it whether there is work to do.

    It is no child of this process, so that a program that waits for its children does not meet it, and it holds no
    file of the program's but the terminal `descriptor`. To be called while there is one thread.

    Raises:
        OSError: there can be no more processes.

    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.fork() == 0:
                _wait(descriptor, reading)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(reading)

    def tell(divided: bool) -> None:
        with suppress(OSError):
            os.write(writing, _DIVIDED if divided else _WHOLE)

    return tell


def _wait(descriptor: int, reading: int) -> None:
    os.setsid()  # no signals of the terminal come here
    os.dup2(reading, 0)
    for output in (1, 2):
        os.dup2(descriptor, output)
    os.closerange(3, min(os.sysconf("SC_OPEN_MAX"), 1 << 16))
    os.execv(_SHELL, ["sh", "-c", _WAITS, "tfdbg-live", GIVEN_BACK])
