"""Why a call of a tf.function traced it: which argument differs from the traces that were there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import AtomicFunction, TfFunction


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
    known = compat.traces_of(entered.function)
    this = atomic.function_type.parameters
    others = [trace.function_type.parameters for trace in known if trace.graph is not atomic.graph]
    changes = min((list(_changes(other, this)) for other in others), key=len, default=[])
    where = f" Called at {caller}" if caller else ""
    count = f"This call traced the function anew; it has {len(known)} traces now.{where}"
    return (count, *changes)


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each parameter that the two traces were made for different kinds or values of."""
    for name in dict.fromkeys([*before, *now]):
        old, new = (_constraint(parameters, name) for parameters in (before, now))
        if old != new:
            python = " A Python value is part of its trace; pass a tensor." if _is_python(new) else ""
            yield f"Argument {name} was {_text(old)} in the nearest trace and is {_text(new)} now.{python}"


def _constraint(parameters: Mapping[str, Any], name: str) -> object:
    parameter = parameters.get(name)
    return None if parameter is None else parameter.type_constraint


def _is_python(constraint: object) -> bool:
    return str(constraint).startswith("Literal[")


def _text(constraint: object) -> str:
    if constraint is None:
        return "absent"
    if isinstance(constraint, tf.TensorSpec):
        return f"{constraint.dtype.name}{_shape_text(constraint.shape)}"
    if _is_python(constraint):
        return str(constraint).removeprefix("Literal[").removesuffix("]")
    return str(constraint)


def _shape_text(shape: tf.TensorShape) -> str:
    if shape.rank is None:
        return " of any shape"
    sizes: Sequence[int | None] = shape.as_list()
    return f"[{','.join('?' if size is None else str(size) for size in sizes)}]"
