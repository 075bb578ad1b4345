"""Every call of a graph function made through its instrumented twin, as interception does it, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tfdbg_cli.capture.functions.calling.instrumented import CallResult, Instrumented
from tfdbg_cli.capture.functions.calling.kept_tensors import KeptTensors
from tfdbg_cli.capture.functions.graph.scopes import scope_of
from tfdbg_cli.capture.tf import compat


def instrument(concrete: Any) -> Instrumented:
    """`concrete` (a ConcreteFunction), callable with its values kept."""
    return Instrumented(scope_of(concrete), compat.atomic_of(concrete))


def called(instrumented: Instrumented, inputs: Sequence[Any]) -> tuple[tuple[Any, ...], KeptTensors]:
    """The flat outputs and the values of a call. Raises what the call raises."""
    outcome = instrumented.perform(inputs)
    if outcome.error is not None:
        raise outcome.error
    return outcome.outputs, outcome.captured


def made(function: Callable[..., Any], *arguments: Any) -> tuple[Any, CallResult]:
    """The concrete function of `function` for `arguments`, and the outcome of one instrumented call with them."""
    concrete = function.get_concrete_function(*arguments)
    return concrete, instrument(concrete).perform([*flat(*arguments), *concrete.captured_inputs])


def flat(*arguments: Any) -> list[Any]:
    """The tensors in `arguments`."""
    import tensorflow as tf

    return [
        tf.convert_to_tensor(item) if not hasattr(item, "handle") else item.handle
        for item in tf.nest.flatten(arguments, expand_composites=True)
    ]


def values(outcome: CallResult, name: str, slot: int = 0) -> list[Any]:
    """The values of the tensor `name`, one for each execution."""
    return [outcome.captured.value(index) for index in outcome.captured.named(name, slot)]


def names(outcome: CallResult) -> list[str]:
    """The names of all values, in order of execution."""
    return [str(outcome.captured[index].name) for index in range(len(outcome.captured))]


@contextmanager
def all_instrumented() -> Iterator[list[tuple[Instrumented, CallResult]]]:
    """A context in which every call of a graph function is instrumented; the list gathers what they gave."""
    found: list[tuple[Instrumented, CallResult]] = []
    kind = compat.atomic_class()
    original = kind.call_flat
    kept: dict[Any, Instrumented] = {}

    def call_flat(atomic: Any, *inputs: Any) -> Any:
        import tensorflow as tf

        if not tf.executing_eagerly():
            return original(atomic, *inputs)
        if atomic.name not in kept:
            kept[atomic.name] = instrument(compat.concrete_of(atomic))
        outcome = kept[atomic.name].perform(inputs)
        found.append((kept[atomic.name], outcome))
        if outcome.error is not None:
            raise outcome.error
        return list(outcome.outputs) or None

    kind.call_flat = call_flat
    try:
        yield found
    finally:
        kind.call_flat = original
