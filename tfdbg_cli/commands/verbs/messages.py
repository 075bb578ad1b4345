"""`messages`: what the bottom line of the screen has said at this stop."""

from __future__ import annotations

import argparse
import time

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Command
from tfdbg_cli.commands.said import Sentence
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.model.units import count_text


def _messages(context: Context, options: argparse.Namespace) -> Document:
    said = list(context.said)
    head = [line(Span(count_text(len(said), "message"), Style.TITLE), Span(" of this stop", Style.DIM))]
    if not said:
        head.append(line(Span("The bottom line of the full screen has said nothing yet.", Style.HINT)))
    blocks: list[Block] = [Text((*head, EMPTY_LINE, *map(_row, said)))]
    data = [{"time": round(one.at, 3), "text": one.text, "error": one.error, "times": one.times} for one in said]
    return Document("messages", tuple(blocks), lambda: {"messages": data}, "messages")


def _row(said: Sentence) -> Line:
    clock = time.strftime("%H:%M:%S", time.localtime(said.at))
    often = f" (×{said.times:,})" if said.times > 1 else ""
    return line(
        Span(clock, Style.DIM),
        "  ",
        Span(said.text, Style.ERROR if said.error else Style.PLAIN),
        Span(often, Style.DIM),
    )


COMMAND = Command(
    "messages",
    (),
    "What the bottom line of the screen has said at this stop.",
    _messages,
    section="Move",
    details="""\
Each with its time, the last one at the end; what only echoes a key, such as a count, is left out. The line prompt
prints what it says, so there nothing is kept.""",
)
