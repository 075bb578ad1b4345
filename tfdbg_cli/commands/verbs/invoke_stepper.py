"""`invoke_stepper`: from a run to the node stepper."""

from __future__ import annotations

import argparse

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Command, Moment
from tfdbg_cli.commands.views.lists.sorted_nodes import legend, list_data, window
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.model.runs import Opened, RunStart
from tfdbg_cli.model.units import count_text

_ON_COPIES = "  All happens on copies; the program goes on as if nothing had been."
# Links by aliases that have no other meaning once the stepper was left, since its pages can be looked at still.
_COMMANDS = (
    ("step", "st"),
    ("cont NODE", ""),
    ("lt", "lsn"),
    ("pt TENSOR", ""),
    ("inject_value TENSOR VALUE", ""),
    ("exit", "leave_stepper"),
)


def _invoke(context: Context, options: argparse.Namespace) -> Document:
    stepper = context.begin_stepping()
    opened = isinstance(context.stop, Opened)
    where = "about to happen" if isinstance(context.stop, RunStart) else "over"
    head = [
        line(Span(f"Stepper: {count_text(len(stepper.nodes), 'node')} of the run that is {where}", Style.TITLE)),
        line("  All happens on copies." if opened else _ON_COPIES),
    ]
    head += [line(Span(f"  {note}", Style.WARNING)) for note in stepper.notes]
    spans = [part for text, link in _COMMANDS for part in (Span(text, Style.KEY, link), Span("  "))]
    head += [line("  Commands: ", *spans[:-1]), EMPTY_LINE, *legend(), EMPTY_LINE]
    blocks = (Text(tuple(head)), *window(stepper, whole=context.later))
    return Document("sorted_nodes", blocks, lambda: list_data(stepper, range(len(stepper.nodes))), "stepper")


COMMAND = Command(
    "invoke_stepper",
    ("s",),
    "Make the run node by node, on copies of the variables.",
    _invoke,
    moments=frozenset({Moment.RUN_START, Moment.RUN_END, Moment.OPENED}),
    section="Stepper",
    details="""\
At the start of a run and at its end. The nodes are sorted so that each comes behind what it reads or waits for.
Nothing of the program is touched: variables are copies, and what would be taken from the program (its next batch) is
not. `exit` leads back; the run then happens as if nothing had been. At the end of a run its batch and its random
numbers are known and used again, where the state from before the run is held.""",
    acts=True,
)
