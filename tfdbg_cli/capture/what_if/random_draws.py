"""What the stepper may draw from outside: random numbers of its own, but nothing that the program would miss."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tfdbg_cli.capture.what_if.effects import RerunEffect, effect_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.units import names_text
from tfdbg_cli.ops.effects import draws_numbers
from tfdbg_cli.ops.kinds import CALLS

# They only give a handle of what another op draws from.
_HANDLES = re.compile(r"\w*(?:Handle|HandleOp|HandleV2|TableV2|Iterator|IteratorV2|Queue|QueueV2|Dataset|DatasetV2)")


def require_drawable(name: str, op_type: str) -> None:
    """Refuse to take from the program what it would miss: the next batch, an element of a queue, a call of Python.

    Raises:
        TfdbgError: `op_type` takes such a thing.

    """
    if effect_of(op_type) is not RerunEffect.DRAW or _may_draw(op_type) or _HANDLES.fullmatch(op_type):
        return
    raise TfdbgError(
        f"{name} ({op_type}) would take from the program what it still needs, such as its next batch.",
        hint=f"`inject_value {name}:0 EXPRESSION` gives it a value; at the run's end it is known.",
    )


def _may_draw(op_type: str) -> bool:
    # What functions do that are called was looked at, or is the business of their copies of the variables.
    return op_type in CALLS or draws_numbers(op_type)


def drawing_notes(nodes: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Sentences about the nodes, by name and op type, that draw something of their own here, or may not draw."""
    found = list(nodes)
    random = [name for name, op_type in found if _may_draw(op_type)]
    missed = [name for name, op_type in found if not _may_draw(op_type)]
    notes = []
    if random:
        notes.append(f"The random numbers of {names_text(random)} are drawn here once; the run draws others.")
    if missed:
        notes.append(
            f"{names_text(missed)} would take from the program what it still needs, so no step is made there: "
            "give a value by `inject_value`."
        )
    return tuple(notes)
