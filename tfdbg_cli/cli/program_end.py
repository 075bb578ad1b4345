"""The end of a program that `tfdbg run` was given: the last words, and the exit code."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tfdbg_cli.cli import launch
from tfdbg_cli.cli.listen_options import exit_code_of
from tfdbg_cli.model.other_processes import STARTED_ANEW
from tfdbg_cli.process.liveness import has_ended
from tfdbg_cli.process.own_threads import threads_go_on
from tfdbg_cli.process.program_end import end_now, interrupted, stand_behind_handlers
from tfdbg_cli.process.streams import to_stderr

if TYPE_CHECKING:
    from tfdbg_cli.api.launch_options import LaunchOptions
    from tfdbg_cli.api.reception import Reception

FIRED = 3  # the exit code where a rule fired and nobody was at a prompt
_NO_TENSORFLOW = "The program did not import TensorFlow in this process, so nothing was looked at. {}"
_UNUSED = "The program ended before these commands were used: {}."
_MOST_COMMANDS = 3  # named of those that were not used


class ProgramEnd:
    """What is done when the main module has ended, and when nothing of the program runs any more.

    A program may train in threads that are no daemons, and in what it has registered with `atexit`: both go on when
    its main module is over. So the last words come behind them; but an exception that ends a program is the last that
    it shows, so what there is to say by then comes before, unless threads go on.
    """

    def __init__(self, asked: LaunchOptions, reception: Reception | None) -> None:
        self._asked = asked
        self._reception = reception
        self._code = 0  # with which the program ends itself
        self._said: set[str] = set()

    def expect(self) -> None:
        """Have the end told behind all that the program will register with `atexit`."""
        stand_behind_handlers()  # so that what stands there comes behind the last words
        atexit.register(self._come)

    def main_module_ends(self, error: BaseException | None) -> None:
        """Note that the main module is over, with `error` unless that is None."""
        self._code = exit_code_of(error)
        if type(error) is KeyboardInterrupt:  # Python asks for no other kind
            interrupted()
        if self._is_told_here:
            launch.main_module_ended(failed=isinstance(error, SystemExit) and self._code != 0)
            if _is_shown(error) and not threads_go_on():
                self._tell(launch.last_words())

    def exit_code(self) -> int:
        """The exit code where the program has none of its own. If rules are on, its end has come behind this call."""
        if self._asked.rules is None:
            return 0
        end_now()
        return self._exit_code

    @property
    def _exit_code(self) -> int:
        return FIRED if not self._code and launch.rule_fired() else self._code

    @property
    def _is_told_here(self) -> bool:
        """Whether this process is the one to tell of the end: one that was forked off may end before the program."""
        return os.getpid() == self._asked.process or has_ended(self._asked.process)

    def _come(self) -> None:
        launch.live_ends()
        if self._is_told_here:
            with suppress(KeyboardInterrupt):  # by somebody who does not want to wait for what is still to be written
                self._tell(launch.program_ended() or self._without_tensorflow())
        if self._reception is not None:
            self._reception.code = self._exit_code

    def _without_tensorflow(self) -> Sequence[str]:
        """That nothing of what was asked for came about, since other processes alone used TensorFlow, if any did."""
        asked = self._asked
        wanted = asked.until is not None or asked.record is not None or asked.rules is not None
        return (_NO_TENSORFLOW.format(STARTED_ANEW),) if wanted and "tensorflow" not in sys.modules else ()

    def _tell(self, seen: Sequence[str]) -> None:
        """Say what rules and watches have `seen`, and which commands nobody came to use; nothing of it twice."""
        script = self._asked.script
        left = [] if script is None or not script.left else [_UNUSED.format(_first_of(script.left))]
        for words in (*seen, *left):
            if words not in self._said:
                self._said.add(words)
                to_stderr(words)


def _is_shown(error: BaseException | None) -> bool:
    """Whether Python shows `error` when it ends a program."""
    match error:
        case None | SystemExit(code=None | int()):
            return False
        case _:
            return True


def _first_of(commands: Sequence[str]) -> str:
    """The first of `commands`, and how many more there are."""
    more = len(commands) - _MOST_COMMANDS
    return "; ".join(commands[:_MOST_COMMANDS]) + (f"; … {more} more" if more > 0 else "")
