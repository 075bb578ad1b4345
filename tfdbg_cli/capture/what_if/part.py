"""A part of a flat function, called with all its values kept and with variables as they were before the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import tensorflow as tf

from tfdbg_cli.capture.functions.calling.instrumented import CallResult, Instrumented
from tfdbg_cli.capture.functions.definition.body import Body
from tfdbg_cli.capture.functions.definition.call_tree import ARGUMENT, Scope
from tfdbg_cli.capture.functions.definition.flat import FlatFunction
from tfdbg_cli.capture.functions.definition.flat_part import FlatDefinition
from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.state.before_updates import held_variables
from tfdbg_cli.capture.stores import known_value
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.capture.what_if.function_slice import FunctionEdges
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array


def perform_part(
    flat: FlatFunction, part: FlatDefinition, inputs: Sequence[EagerTensor], room: int | None
) -> CallResult:
    """What `part` of `flat` gives when it is called with `inputs`: its values, and before them its arguments.

    They are called as in the function's runs. The values of branches and loops may take `room` bytes. The caller
    sees to it that no tape and no debugger looks.
    """
    name = part.definition.signature.name
    compat.add_function(part.definition)
    try:
        arguments = [
            Shown(tensor, ARGUMENT, "", argument.type)
            for tensor, argument in zip(part.inputs, part.definition.signature.input_arg, strict=True)
        ]
        return Instrumented(_scope_of(flat, part), arguments=arguments).perform(inputs, room)
    finally:
        compat.remove_function(name)


def _scope_of(flat: FlatFunction, part: FlatDefinition) -> Scope:
    """The scope of `part`, in which branches and loops have the scopes that they have in the function."""
    body = Body(part.definition)
    root = Scope("", body, body.needed(range(len(body.returns))), argument_names=tuple(map(str, part.inputs)))
    root.stands_for = dict(enumerate(part.inputs))
    for node in root.needed.nodes:
        site = flat.nodes[node.name].site if node.name in flat.nodes else None
        if site is not None:
            root.calls[node.name] = replace(site, node=node)
    return root


class Variables:
    """The arguments of one call, with copies in the place of its variables. Copies live as long as this does."""

    def __init__(self, flat: FlatFunction, edges: FunctionEdges, inputs: Sequence[EagerTensor], run: Run) -> None:
        self._edges = edges
        self._inputs = dict(zip(flat.arguments, inputs, strict=True))
        self._run = run
        self._copies: dict[TensorName, EagerTensor] = {}

    def argument(self, name: TensorName) -> EagerTensor:
        """The tensor that was given as `name`; for a variable the handle of a copy.

        Raises:
            TfdbgError: nobody knows what the variable held before the run.

        """
        given = self._inputs[name]
        if given.dtype != tf.resource or compat.type_in_variable(given) is None:
            return given  # a tensor, or a table, which a part never writes to
        if name not in self._copies:
            self._copies[name] = compat.new_variable(self._value(name, given))
        return self._copies[name]

    def _value(self, name: TensorName, handle: EagerTensor) -> EagerTensor:
        dtype = tf.as_dtype(compat.type_in_variable(handle))
        if name.node in self._held:
            return tf.constant(self._held[name.node], dtype)
        for node in self._edges.readers(name):
            if node.op_type == "ReadVariableOp" and not self._edges.is_late(node):
                value = known_value(self._run.tensors, TensorName(node.name, 0))
                if value is not None:
                    return tf.constant(value, dtype)
        if self._edges.is_written(name):
            raise TfdbgError(
                f"What the variable {name.node} held before the run is not known, and the run has changed it.",
                hint="Replace a tensor further down.",
            )
        return tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype)

    @cached_property
    def _held(self) -> Mapping[str, Array]:
        return {item.name: item.value for item in held_variables(self._run)}
