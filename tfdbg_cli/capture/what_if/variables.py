"""The arguments of a part of a function, with copies of the variables as they were before the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import tensorflow as tf

from tfdbg_cli.capture.functions.definition.flat import FlatFunction
from tfdbg_cli.capture.state.held_variables import held_variables
from tfdbg_cli.capture.stores import known_value
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.capture.what_if.function_slice import FunctionEdges
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array


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
