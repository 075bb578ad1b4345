"""A visitor as the line UI sees one: commands come from them, answers go to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO, cast

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.line.input import PROMPT, Completer, InterruptedElsewhere
from tfdbg_cli.line.json_output import JsonOutput
from tfdbg_cli.line.output import LineOutput, TextOutput
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.remote.messages import MOST_TEXT, number_in, text_in
from tfdbg_cli.remote.visitor import Visitor

_MOST_OFFERED = 1 << 15  # characters of completions in one message


class VisitorInput:
    """Commands of a visitor (`Input`). BrokenPipeError when they have gone."""

    ending = ""

    def __init__(self, visitor: Visitor) -> None:
        self.interactive = visitor.wishes.interactive
        self.echoes = visitor.wishes.echoes
        self._visitor = visitor
        self._completer: Completer | None = None

    def opened(self, completer: Completer) -> AbstractContextManager[object]:
        self._completer = completer
        return nullcontext()

    def silent(self) -> bool:
        return False

    def read(self, prompt: str = PROMPT) -> str | None:
        self._visitor.send("read", prompt=prompt, failures=self._visitor.failures)
        while True:
            message = self._visitor.said()
            match message["kind"]:
                case "line":
                    self._visitor.heed(message)
                    return text_in(message, "text").partition("\n")[0]
                case "interrupt":
                    raise InterruptedElsewhere
                case "complete":
                    self._complete(text_in(message, "text"), number_in(message, "request"))
                case _:
                    continue

    def _complete(self, text: str, request: int | None) -> None:
        """Send the completions of `text`, with the number that the visitor gave the `request`."""
        try:
            found = self._completer(text) if self._completer is not None else None
        except our_errors():  # as at a terminal: nothing is offered then
            found = None
        if found is None:
            self._visitor.send("completions", request=request, start=len(text), candidates=[], common="", total=0)
            return
        offered, room = [], _MOST_OFFERED
        for name in found.candidates:
            room -= len(name)
            if room < 0:
                break
            offered.append(name)
        common = found.common if len(found.common) < _MOST_OFFERED else ""
        facts = {"start": found.start, "candidates": offered, "common": common, "total": found.total}
        self._visitor.send("completions", request=request, **facts)


class VisitorStream:
    """What is written here the visitor gets as text. BrokenPipeError when they have gone."""

    encoding = "utf-8"

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor
        self._held = ""

    def write(self, text: str) -> int:
        self._held += text
        if len(self._held) >= MOST_TEXT:
            self.flush()
        return len(text)

    def flush(self) -> None:
        held, self._held = self._held, ""
        for start in range(0, len(held), MOST_TEXT):
            self._visitor.send("text", text=held[start : start + MOST_TEXT])


class VisitorText(TextOutput):
    """Answers for people who are attached."""

    def __init__(self, visitor: Visitor, width: int | None) -> None:
        super().__init__(_stream(visitor), color=visitor.wishes.color, width=width)
        self._visitor = visitor

    def wait(self, steps: Iterator[float | None]) -> None:
        """Nothing: a line that is drawn over would not be seen as such in what is sent."""

    def working(self) -> AbstractContextManager[object]:
        return nullcontext()

    def error(self, command: str, error: TfdbgError) -> None:
        self._visitor.failures += 1
        super().error(command, error)


class VisitorJson(JsonOutput):
    """Answers for programs that are attached."""

    def __init__(self, visitor: Visitor) -> None:
        super().__init__(_stream(visitor))
        self._visitor = visitor

    def begin(self) -> None:
        """Nothing: no progress bar of the program's gets there."""

    def error(self, command: str, error: TfdbgError) -> None:
        self._visitor.failures += 1
        super().error(command, error)

    def note(self, sentence: str) -> None:
        if sentence.strip():
            self._visitor.send("note", text=sentence.strip()[:MOST_TEXT])


def output_for(visitor: Visitor, width: int | None) -> LineOutput:
    """Where the answers of one stop go; as JSON always to the same place, which holds one back."""
    if not visitor.wishes.json:
        return VisitorText(visitor, width)
    visitor.output = visitor.output or VisitorJson(visitor)
    return visitor.output


def farewell(visitor: Visitor) -> None:
    """Send what is still held back for a visitor who leaves."""
    if isinstance(visitor.output, VisitorJson):
        visitor.output.done()


def _stream(visitor: Visitor) -> TextIO:
    return cast("TextIO", VisitorStream(visitor))
