"""A session's run for the stepper: its ops, each run alone in a session of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tfdbg_cli.capture.sessions.as_written import written_type
from tfdbg_cli.capture.sessions.fetched_tensors import fetched_array
from tfdbg_cli.capture.sessions.program_graph import tensor_name
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.opaque import dtype_name, is_opaque
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import Op, RawSession, SymbolicTensor
from tfdbg_cli.capture.what_if.effects import RerunEffect
from tfdbg_cli.capture.what_if.private_session import PrivateSession
from tfdbg_cli.capture.what_if.random_draws import drawing_notes, require_drawable
from tfdbg_cli.capture.what_if.session_slice import SessionCallGraph
from tfdbg_cli.capture.what_if.stepping import OpStep, StepOutput
from tfdbg_cli.capture.what_if.words import op_failed
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.stepping import StepNode
from tfdbg_cli.model.values import Array, Value


class SessionProgram:
    """The ops that run for the sake of `ends` when `feeds`, values by the names of tensors, are fed.

    A `stepping.SteppedRun`. It has variables of its own; `take` says what they hold at first.
    """

    def __init__(self, ends: Sequence[Op], feeds: Mapping[str, Any]) -> None:
        """Copy the ops.

        Raises:
            TfdbgError: TensorFlow does not take them.

        """
        self._call = SessionCallGraph(ends, feeds)
        self._private = PrivateSession(self._call.whole, self._call.hidden)
        self._held: Mapping[str, Array] = {}

    @property
    def variables(self) -> Sequence[Op]:
        """Those of the ops that hold a variable."""
        return [op for name, op in self._call.ops.items() if name in self._private.variables]

    def take(self, values: Mapping[str, Array]) -> None:
        """Let the variables hold `values`, by the names of their ops; the others stay empty."""
        self._held = values
        self.restore()

    def restore(self) -> None:
        """Put the variables back. See Program."""
        for name, value in self._held.items():
            if name in self._private.variables:
                self._private.put(name, value)

    def held(self, variable: str) -> Array | None:
        """See SteppedRun."""
        return self._private.held(variable) if variable in self._private.variables else None

    def assign(self, variable: str, value: Array) -> None:
        """See SteppedRun."""
        self._private.put(variable, value)

    @cached_property
    def given(self) -> Mapping[TensorName, Array]:
        """What is fed."""
        found = {}
        for name, value in self._call.feeds.items():
            node, _, slot = name.rpartition(":")
            dtype = self._call.tensor(name).dtype.base_dtype.as_numpy_dtype
            found[TensorName(node, int(slot))] = np.asarray(value, dtype)
        return found

    @cached_property
    def steps(self) -> Sequence[OpStep]:
        """See Program."""
        fed_nodes = {name.node: self._call.tensor(str(name)).op for name in self.given}
        arguments = [self._step(op, fed=True) for name, op in fed_nodes.items() if name not in self._call.ops]
        return [*arguments, *(self._step(op) for op in self._call.ops.values())]

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """See Program."""
        drawing = [op for op in self._call.ops.values() if RerunEffect.DRAW in self._call.effects(op)]
        return drawing_notes((op.name, op.type) for op in drawing if op.name not in self._handles)

    @cached_property
    def _handles(self) -> Collection[str]:
        """The ops that give nothing but handles."""
        return {name for name, op in self._call.ops.items() if op.outputs and all(map(is_opaque, op.outputs))}

    @cached_property
    def _drawn(self) -> frozenset[str]:
        """The ops that draw from outside, such as random numbers."""
        return frozenset(name for name, op in self._call.ops.items() if RerunEffect.DRAW in self._call.effects(op))

    def compute(
        self, step: OpStep, known: Mapping[TensorName, Array], overridden: Collection[TensorName]
    ) -> Sequence[Array | None]:
        """See Program."""
        op = self._call.ops.get(step.name)
        if op is None:
            return [known.get(output.name) for output in step.outputs]
        if RerunEffect.DRAW in self._call.effects(op) and op.name not in self._handles:
            require_drawable(op.name, op.type)
        feeds = self._needed(op, known, overridden)
        wanted = [output.name for output in step.outputs if output.feedable]
        try:
            # An op that gives a handle alone is run with those that read it.
            runs = [] if op.name in self._handles and not step.writes else [op.name]
            values = dict(zip(wanted, self._private.run(list(map(str, wanted)), runs, feeds), strict=True))
        except OpError as error:
            raise op_failed(op.name, error) from error
        return [values.get(output.name) for output in step.outputs]

    def array(self, value: Array) -> Value:
        """See Program."""
        return value

    def value(self, array: Array, dtype: str) -> Array:
        """See Program."""
        return np.array(array, copy=True)

    def close(self) -> None:
        """See Program."""
        self._private.close()

    def _needed(
        self, op: Op, known: Mapping[TensorName, Array], overridden: Collection[TensorName]
    ) -> dict[str, Array]:
        """What to feed so that only `op` runs, and those ops before it whose outputs cannot be fed."""
        feeds, seen = self._walked(op, known, frozenset())
        if self._call.takes_from_loop(seen):
            anew = self._call.behind_loops - self._drawn - {name.node for name in overridden}
            feeds, _ = self._walked(op, known, anew)
        return feeds

    def _walked(
        self, op: Op, known: Mapping[TensorName, Array], anew: Collection[str]
    ) -> tuple[dict[str, Array], set[str]]:
        """What to feed, and the names of the ops that will run: those in `anew` even if their values are known."""

        def value_of(tensor: SymbolicTensor) -> Array | None:
            runs = tensor.name in self._call.flows or tensor.op.name in anew
            return None if runs else known.get(tensor_name(tensor))

        ran, feeds = self._call.run_before([op], value_of)
        return feeds, {one.name for one in ran}

    def _step(self, op: Op, *, fed: bool = False) -> OpStep:
        hidden = op.name in self._call.hidden
        outputs = tuple(
            StepOutput(
                TensorName(op.name, slot),
                dtype_name(tensor),
                not is_opaque(tensor) and not hidden and tensor.name not in self._call.flows,
            )
            for slot, tensor in enumerate(op.outputs)
        )
        if fed:
            return OpStep(StepNode(op.name, written_type(op)), op.device, outputs, given=True)
        inputs = tuple(map(tensor_name, op.inputs))
        waits = tuple(control.name for control in op.control_inputs)
        reads = self._call.variables_of(op)
        writes = self._call.written_by(op)
        node = StepNode(op.name, written_type(op), inputs)
        return OpStep(node, op.device, outputs, waits, reads, writes, alone=not hidden)


def values_in(session: RawSession, variables: Sequence[Op]) -> dict[str, Array]:
    """What `variables`, given as the ops that hold them, hold in `session` now, by name; empty ones are left out."""
    found = {}
    for op in variables:
        reads = [op.outputs[0]]
        if op.type == "VarHandleOp":
            reads = [one.outputs[0] for one in op.outputs[0].consumers() if one.type == "ReadVariableOp"]
        reads = [read for read in reads if not read.op.control_inputs]
        if reads:
            try:
                with INSIDE:
                    found[op.name] = np.array(fetched_array(session.run(reads[0])), copy=True)
            except OpError:  # not initialized: the run will do so
                continue
    return found
