"""Answers for programs, as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TextIO

from tfdbg_cli.document.document import Document
from tfdbg_cli.document.jsonlines import decision_json, document_json, error_json
from tfdbg_cli.document.text import Line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.line.progress_bars import bar_is_drawn
from tfdbg_cli.model.decision import DebugRun, Decision, RunUntil
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.process.program_end import at_the_end, not_at_the_end
from tfdbg_cli.process.streams import flush, to_stderr, write


class JsonOutput:
    """Answers for programs: one JSON object a line, nothing else. Notes go to standard error.

    The answer to `run` is held back until the run that it leads to has ended, to include whether that was exact, or
    until the process ends.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._waiting: tuple[str, Decision] | None = None
        at_the_end(self.done)

    def begin(self) -> None:
        """End the line of a progress bar, if there is one: a JSON object has to begin on a line of its own."""
        if bar_is_drawn():
            self._print("")

    def run_ended(self, exactness: Exactness | None) -> None:
        """Print the answer to the `run` that led here; `exactness` is that of the run, if known."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            with suppress(ValueError, OSError):  # standard output is closed
                self._print(decision_json(*waiting, exactness))

    def done(self) -> None:
        """Print what is held back, and hold nothing back from now on."""
        self.run_ended(None)
        not_at_the_end(self.done)

    def title(self, title: Line) -> None:
        """Nothing: a program asks for what it wants to know."""

    def echo(self, command: str) -> None:
        """Nothing: each answer names its command."""

    def wait(self, steps: Iterator[float | None]) -> None:
        """Nothing: a program waits for the answer."""

    def working(self) -> AbstractContextManager[object]:
        return nullcontext()

    def document(self, command: str, document: Document) -> None:
        self._print(document_json(command, document))

    def decision(self, command: str, decision: Decision) -> None:
        if isinstance(decision, DebugRun | RunUntil):
            self._waiting = command, decision
        else:
            self._print(decision_json(command, decision))

    def error(self, command: str, error: TfdbgError) -> None:
        self._print(error_json(command, error))

    def note(self, sentence: str) -> None:
        if sentence.strip():
            to_stderr(sentence.strip())

    def _print(self, text: str) -> None:
        write(self.stream, text + "\n")
        flush(self.stream)
