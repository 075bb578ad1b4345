"""The side of `tfdbg attach`: shows what comes, and asks its user for commands."""

from __future__ import annotations

import re
import sys
import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from tfdbg_cli.commands.completion import Completions
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.line.input import Input
from tfdbg_cli.line.script import Script
from tfdbg_cli.plain_text import harmless, printable
from tfdbg_cli.process.own_threads import OwnThread
from tfdbg_cli.process.streams import flush, to_stderr, write
from tfdbg_cli.remote.channel import Channel, received
from tfdbg_cli.remote.messages import VERSION, Message, number_in, text_in
from tfdbg_cli.remote.visitor import Wishes
from tfdbg_cli.terminal_facts import columns

_COLOURS = re.compile(r"(\x1b\[[0-9;]{0,20}m)")
_PATIENCE = 5.0  # seconds for completions: a prompt that waits gives them at once
_SILENCE = 15.0  # seconds: a program answers who attaches at once, or is slow to, amid what holds Python up
_LONGEST_PROMPT = 200
_LOST = "The connection to the program is lost."
_WAITS = "Attached to {}, process {}. Waits for the next run of the job{}."
_STANDS = "Attached to {}, process {}. It stands at what was found: the prompt opens{}."
_COMES = "The prompt opens at the next run of the job. Ctrl-C again leaves, and the program goes on as before."
_LEFT = "Left: the program goes on as before."
_SILENT = "The program does not answer yet: it may be suspended, or busy. Ctrl-C leaves."
_WORKS = "The program still works on the answer. Ctrl-C again leaves, and the program goes on as before."


class Client:
    """One visit. Commands come from `source`; `script` is what it reads from, where that is `-c`.

    A program that says nothing for `silence` seconds may never: that is told, and waited for.
    """

    def __init__(
        self,
        channel: Channel,
        source: Input,
        wishes: Wishes,
        script: Script | None,
        *,
        wide: bool,
        silence: float = _SILENCE,
    ) -> None:
        self._channel = channel
        self._source = source
        self._wishes = wishes
        self._script = script
        self._wide = wide  # whether answers go to a terminal, whose width counts
        self._silence: float | None = silence  # None once the program has spoken, or that it does not was told
        self._came: SimpleQueue[Message | None] = SimpleQueue()  # all others; None at the end
        self._completed: SimpleQueue[Message | None] = SimpleQueue()  # completions; None at the end
        self._requests = 0  # for completions, so far
        self._program: Message = {}
        self._failures = 0
        self._stopped = False  # whether the program is at our prompt
        self._runs_on = False  # whether a stop was here, and Ctrl-C asks for another
        self._left = False
        self._struck = False  # whether Ctrl-C was pressed since the last message

    def talk(self, token: str) -> int:
        """Talk until one side ends it; 1 if a command failed, or was not used, with nobody to mend it.

        Raises:
            TfdbgError: the program refuses, or the connection is lost.

        """
        wishes = {name: getattr(self._wishes, name) for name in Wishes.__slots__}
        self._send("hello", version=VERSION, token=token, width=self._width, **wishes)  # it may have said why not
        OwnThread(target=self._receive, daemon=True).start()
        while (message := self._next()) is not None:
            self._struck = False
            if self._ends_with(message):
                return self._code
        if self._left:
            return self._code
        raise TfdbgError(_LOST, hint="It may have been killed, or the network is gone.", exit_code=2)

    @property
    def _width(self) -> int | None:
        return columns() if self._wide else None

    @property
    def _code(self) -> int:
        unused = self._script.left if self._script is not None else ()
        if unused:
            to_stderr(f"These commands were not used: {'; '.join(unused)}.")
        return 1 if unused or (self._failures and not self._wishes.interactive) else 0

    def _receive(self) -> None:
        while (message := received(self._channel)) is not None:
            (self._completed if message["kind"] == "completions" else self._came).put(message)
        self._came.put(None)
        self._completed.put(None)

    def _next(self) -> Message | None:
        while True:
            try:
                message = self._came.get(timeout=self._silence)
                self._silence = None
                return message
            except Empty:
                self._silence = None
                to_stderr(_SILENT)
            except KeyboardInterrupt:
                waits = not self._stopped and not self._runs_on
                if not self._wishes.interactive or self._struck or waits:
                    self._say_goodbye()
                    raise
                self._struck = True
                if not self._stopped:
                    self._send("stop")
                to_stderr(_WORKS if self._stopped else _COMES)

    def _ends_with(self, message: Message) -> bool:
        """Do what `message` says; whether the visit is over."""
        self._failures = number_in(message, "failures") or self._failures
        match message["kind"]:
            case "refused":
                raise TfdbgError(f"Not attached: {text_in(message, 'text')}", exit_code=2)
            case "welcome":
                self._program = message
            case "waits":
                leaves = "; Ctrl-C leaves" if self._wishes.interactive else ""
                name, pid = text_in(self._program, "name"), number_in(self._program, "pid")
                to_stderr((_STANDS if message.get("standing") is True else _WAITS).format(name, pid, leaves))
            case "text":
                write(sys.stdout, shown(text_in(message, "text")))
                flush(sys.stdout)
            case "note":
                to_stderr(text_in(message, "text"))
            case "read":
                self._stopped = True
                self._answer(text_in(message, "prompt"))
            case "goes_on":
                self._stopped, self._runs_on = False, True
                if self._script is not None and not self._script.left:
                    self._leave()
            case "ended":
                code = number_in(message, "code")
                to_stderr(f"The program has ended{'' if code is None else f', exit code {code}'}.")
                return True
            case "bye":
                if text_in(message, "text"):
                    to_stderr(text_in(message, "text"))
                elif self._wishes.interactive:
                    to_stderr(_LEFT)
                return True
            case _:
                pass
        return False

    def _answer(self, prompt: str) -> None:
        try:
            with self._source.opened(self._complete):
                text = self._source.read(printable(prompt)[:_LONGEST_PROMPT])
        except KeyboardInterrupt:
            if not self._wishes.interactive:
                raise
            self._send("interrupt")
            return
        if text is not None:
            self._send("line", text=text, width=self._width)
            return
        if self._source.ending:
            to_stderr(f"{self._source.ending}.")
        elif self._wishes.interactive:
            write(sys.stdout, "\n")  # Ctrl-D left the cursor behind the prompt
            flush(sys.stdout)
        self._leave()

    def _complete(self, text: str) -> Completions:
        message = self._completions(text)
        if message is None:
            return Completions(len(text))
        names = message.get("candidates")
        candidates = tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()
        start = number_in(message, "start") or 0
        return Completions(
            start, tuple(map(printable, candidates)), text_in(message, "common"), number_in(message, "total") or 0
        )

    def _completions(self, text: str) -> Message | None:
        """What the program answers to a Tab behind `text`; None if it takes too long, or the connection has ended.

        Late answers to an earlier Tab are left out. A program with an older tfdbg does not say which Tab it answers.
        """
        self._requests += 1
        self._send("complete", text=text, request=self._requests)
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                message = self._completed.get(timeout=max(0.0, until - time.monotonic()))
            except Empty:
                return None
            if message is None:
                self._completed.put(None)  # for the next Tab
                return None
            if number_in(message, "request") in {None, self._requests}:
                return message

    def _leave(self) -> None:
        self._left = True
        self._send("leave")

    def _say_goodbye(self) -> None:
        with suppress(OSError):
            self._channel.send("leave", patience=_PATIENCE)
        if self._wishes.interactive:
            to_stderr(_LEFT)

    def _send(self, kind: str, **facts: Any) -> None:
        with suppress(OSError):  # that the connection is lost is seen by who receives
            self._channel.send(kind, **facts)


def shown(text: str) -> str:
    """`text` of the program's side with its colours, and nothing else that a terminal would obey."""
    return "".join(piece if _COLOURS.fullmatch(piece) else harmless(piece) for piece in _COLOURS.split(text))
