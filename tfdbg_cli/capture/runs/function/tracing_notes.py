"""Why a call of a tf.function traced it: which argument differs from the traces that were there."""

from __future__ import annotations

from dataclasses import dataclass, field

from tfdbg_cli.analysis.retracing.retracing import ArgumentDifference, since_nearest
from tfdbg_cli.capture.functions.signature.argument_specs import Objects, signature_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import AtomicFunction, TfFunction
from tfdbg_cli.model.traces import SpecKind


@dataclass(frozen=True, slots=True)
class Entered:
    """A call of `function`, a tf.function, that is under way, and how many traces there were when it began.

    `began` is when that was, `initialized` when it initialized the variables that it had created.
    """

    function: TfFunction
    traces: int
    began: float = 0.0
    initialized: list[float] = field(default_factory=list)

    @property
    def traced(self) -> bool:
        """Whether the call has traced the function."""
        return bool(self.function.experimental_get_tracing_count() > self.traces)


def tracing_notes(entered: Entered | None, atomic: AtomicFunction, caller: str) -> tuple[str, ...]:
    """Sentences for the screen when the call `entered`, which runs `atomic`, traced its function; else none.

    `caller` is the line of the program that called.
    """
    if entered is None or not entered.traced:
        return ()
    if not entered.traces:
        return ("This call traced the function, its first call.",)
    known, python, objects = compat.traces_of(entered.function), entered.function.python_function, Objects()
    others = [signature_of(trace, python, objects) for trace in known if trace.graph is not atomic.graph]
    changes = since_nearest(others, signature_of(atomic, python, objects))
    where = f" Called at {caller}" if caller else ""
    count = f"This call traced the function anew; it has {len(known)} traces now.{where}"
    return (count, *map(_sentence, changes))


def _sentence(change: ArgumentDifference) -> str:
    is_python = change.after is not None and change.after.kind in {SpecKind.NUMBER, SpecKind.CONSTANT}
    python = " A Python value is part of its trace; pass a tensor." if is_python else ""
    return f"Argument {change.argument} was {change.old} in the nearest trace and is {change.new} now.{python}"
