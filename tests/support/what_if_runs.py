"""Captured runs of functions, with the means to ask what if, for tests."""

from __future__ import annotations

from typing import Any

from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.runs import Run


def captured(function: Any, *arguments: Any) -> tuple[Run, Any, list[Any]]:
    """The run of `function`, captured, the means to ask what if, and the flat inputs."""
    import tensorflow as tf

    from tfdbg_cli.capture.functions.signature.arguments import given, given_values
    from tfdbg_cli.capture.runs.function.traced_function import traced_function
    from tfdbg_cli.capture.tf.compat import atomic_of
    from tfdbg_cli.capture.what_if.function import FunctionWhatIf

    concrete = function.get_concrete_function(*arguments)
    traced = traced_function(atomic_of(concrete))
    inputs = [*map(tf.convert_to_tensor, arguments), *concrete.captured_inputs]
    kept = traced.instrumented.perform(inputs).captured
    call = Call(
        1,
        RunKind.FUNCTION,
        tuple(map(str, traced.returned)),
        given_values(traced.slots, inputs),
        function="step",
        arguments=given(traced.slots, inputs),
    )
    what_if = FunctionWhatIf(traced.instrumented.root, inputs, None)
    return Run(call, kept, traced.graph, what_if=what_if), what_if, inputs


def value_of(run: Run, node: str, execution: int = 0, slot: int = 0) -> Any:
    """The value of a tensor of `run`."""
    return run.tensors.value(run.tensors.named(node, slot)[execution])
