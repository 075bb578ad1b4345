"""`invoke_stepper`: from a run to the node stepper."""

from __future__ import annotations

import argparse

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Command, Moment
from tfdbg_cli.commands.views.lists.sorted_nodes import legend, list_data, window
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened, Run, RunStart
from tfdbg_cli.model.stepping import Stepper
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import NoValue

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
    made = None if isinstance(context.stop, RunStart) else context.run
    stepper = context.begin_stepping()
    replaced = [] if made is None else _replaced(stepper, made)
    context.look_at_steps()
    opened = isinstance(context.stop, Opened)
    where = "that is about to happen" if made is None else "with other values" if made.change else "that is over"
    head = [
        line(Span(f"Stepper: {count_text(len(stepper.nodes), 'node')} of the run {where}", Style.TITLE)),
        line("  All happens on copies." if opened else _ON_COPIES),
    ]
    head += [line(Span(f"  {note}", Style.WARNING)) for note in (*stepper.notes, *replaced)]
    spans = [part for text, link in _COMMANDS for part in (Span(text, Style.KEY, link), Span("  "))]
    head += [line("  Commands: ", *spans[:-1]), EMPTY_LINE, *legend(), EMPTY_LINE]
    blocks = (Text(tuple(head)), *window(stepper, whole=context.later))
    return Document("sorted_nodes", blocks, lambda: list_data(stepper, range(len(stepper.nodes))), "stepper")


def _replaced(stepper: Stepper, made: Run) -> list[str]:
    """Give the stepper the values that were replaced in the run that `again` has made, and tell of each."""
    told: list[str] = []
    change = made.change
    if change is None:
        return told
    for name in change.replaced:
        rows = made.tensors.named(name.node, name.slot)
        try:
            if name.slot == 0 and stepper.held(name.node) is not None:
                stepper.assign(name.node, change.given[name])
                told.append(f"The variable {name.node} holds here, too, what `set` gave it.")
                continue
            if len(rows) != 1:
                raise TfdbgError("The run computes it more than once.")
            value = made.tensors.value(rows[0])
            if isinstance(value, NoValue):
                raise TfdbgError(value.text)
            stepper.inject(name, value)
        except TfdbgError as error:
            told.append(f"{name} is as in the program's own run here: it cannot be replaced. {error.message}")
        else:
            told.append(f"{name} is replaced here, too, as by `set`.")
    return told


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
numbers are known and used again, where the state from before the run is held. Of a run made by `again` the
replaced values are injected.""",
    acts=True,
)
