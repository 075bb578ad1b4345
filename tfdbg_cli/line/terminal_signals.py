"""Ctrl-Z and new sizes, as far as lines at the bottom of a terminal have to know of them.

A handler of Python's would wait until a call of TensorFlow is over, and the program would find it where it looks for
its own. So `faulthandler` is to write a few words into a pipe, at once and in C, and then to let happen what would
have happened. It writes of the thread alone that gets the signal, which is the main one: to look at others is not
safe. A signal for which the program has a handler is left alone.
"""

from __future__ import annotations

import faulthandler
import os
import select
import signal
import time
from contextlib import suppress

from tfdbg_cli.process.own_descriptor import LostDescriptorError, OwnDescriptor

_STOPPING = 0.3  # seconds from the word of a Ctrl-Z, in which the program is stopped for certain


class TerminalSignals:
    """Tells a `TerminalGuard`, by its `pipe`, of a Ctrl-Z before the program stops, and who waits of what came."""

    def __init__(self, pipe: OwnDescriptor, stops: OwnDescriptor) -> None:
        """Make a pipe.

        Raises:
            OSError: there are no more descriptors.

        """
        sizes, told = os.pipe()
        self._guard, self._stops = pipe, stops
        self._sizes, self._told = OwnDescriptor(sizes), OwnDescriptor(told)
        self._poll = select.poll()
        for descriptor in (sizes, stops.number):
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, select.POLLIN)
        os.set_blocking(told, False)  # a handler must not wait until somebody reads

    def listen(self) -> None:
        """Listen from now on; again, where a prompt may have put the default back meanwhile."""
        for number, pipe in ((signal.SIGTSTP, self._guard), (signal.SIGWINCH, self._told)):
            if signal.getsignal(number) is signal.SIG_DFL:
                faulthandler.unregister(number)
                with suppress(LostDescriptorError):
                    faulthandler.register(number, pipe.number, all_threads=False, chain=True)

    def wait(self, seconds: float) -> bool:
        """Block so long, or until the size is another one or the program goes on after a stop; whether it was so."""
        if any(one.lost for one in (self._guard, self._stops, self._sizes, self._told)):
            for number in (signal.SIGTSTP, signal.SIGWINCH):
                faulthandler.unregister(number)
            time.sleep(seconds)
            return False
        found = [descriptor for descriptor, _ in self._poll.poll(seconds * 1000)]
        if self._stops.number in found:
            time.sleep(_STOPPING)  # the word may come before the stop, and what is drawn then stays meanwhile
        for descriptor in found:
            with suppress(BlockingIOError):
                while os.read(descriptor, 1 << 16):
                    pass
        return bool(found)
