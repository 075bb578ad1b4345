"""Which run `set` and `again` are about, and what computes parts of it again."""

from __future__ import annotations

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.replaying import how_to_replay
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Opened, Run, WhatIf


def base_of(context: Context) -> int:
    """The index of the program's own run behind the one looked at, which `again` may have made of it."""
    return base_at(context, context.current)


def base_at(context: Context, place: int) -> int:
    """The same of the run at `place`. Of a recording it is that of the program with the same number and call."""
    run = context.runs[place]
    if run.change is not None:
        return next((index for index, other in enumerate(context.runs) if other is run.change.base), place)
    if not run.what_if_title:
        return place
    calls = ((index, context.runs[index].call) for index in range(place - 1, -1, -1))
    made_of = ((index, call) for index, call in calls if not call.replaced and call.number == run.call.number)
    return next((index for index, call in made_of if call.same == run.call.same), place)


def what_if_of(run: Run, context: Context) -> WhatIf:
    """The means to compute parts of `run` again.

    Raises:
        TfdbgError: there are none.

    """
    if run.what_if is not None:
        return run.what_if
    context.require_program("To compute with other values takes")
    opened = isinstance(context.stop, Opened)
    if run.paused is not None:
        raise TfdbgError(
            "Nothing of this run can be computed again: the program stands in its middle.",
            hint="It goes on with what `set` gives it: `step` leads to the next op. `set` alone lists what that is.",
        )
    if isinstance(context.stop, Opened) and not context.stop.is_replay:
        raise TfdbgError("Of a recording nothing can be computed again.", hint=how_to_replay(run))
    if run.error is not None:
        hint = "`error_info` tells why." if opened else "`run` runs on."
        raise TfdbgError("This run failed, so nothing of it can be computed again.", hint=hint)
    if run.call.kind is RunKind.EAGER and not opened:
        raise TfdbgError(
            "Nothing of this run can be computed again: its ops ran eagerly, one by one, and it is over.",
            hint="`step` or `break PLACE` stops in the middle of the next one, where `set` gives the program another"
            " value; `py NAME.assign(VALUE)` writes a variable of it now.",
        )
    raise TfdbgError(
        "Nothing of this run can be computed again: it has no values, or its ops ran eagerly, one by one.",
        hint="`tfdbg replay` without --eager can."
        if opened
        else "Look at the run of a tf.function or a session, captured by `run`.",
    )
