"""Calls the plain function once more from a snapshot: on copies of its variables and of the batch that it drew.

What it gives then is what the program would have got undebugged.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import tensorflow as tf

from tfdbg_cli.capture.functions.definition.flat import FlatNode
from tfdbg_cli.capture.functions.exact.agreement import CallOutcome
from tfdbg_cli.capture.functions.exact.summed_draws import summed_draws
from tfdbg_cli.capture.replay.function import fresh_variable
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.capture.state.snapshot_plan import SnapshotPlan
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.types import AtomicFunction, DType, EagerTensor
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import RESOURCE
from tfdbg_cli.model.names import TensorName

_NEXT = "IteratorGetNext"
_SUMMED = "a sum of three terms or more begins with {} or not by who else holds it, as a data set may"


class PlainRuns:
    """Calls the plain function `atomic`, whose snapshots follow `snapshot_plan`, once more."""

    def __init__(self, snapshot_plan: SnapshotPlan, atomic: AtomicFunction) -> None:
        self._snapshot_plan = snapshot_plan
        self._atomic = atomic
        self._summed: str | None = None  # once TensorFlow has told what it makes of the function

    @property
    def unlike(self) -> str:
        """Why what it gives may have other last digits than what the program gets; empty when it has the same.

        Where a batch is a term of a sum the copy of that batch may be held otherwise.
        """
        plain = self._snapshot_plan.optimized()
        if plain is None or not self.draws:
            return ""
        if self._summed is None:
            summed = sorted(map(str, summed_draws(plain, self._snapshot_plan.sources)))
            self._summed = _SUMMED.format(summed[0]) if summed else ""
        return self._summed

    @cached_property
    def reason(self) -> str:
        """Why the plain function cannot be called on copies; empty when it can."""
        snapshot_plan = self._snapshot_plan
        if snapshot_plan.reason or snapshot_plan.outside is None:
            return snapshot_plan.reason
        seen: set[int] = set()
        for name, op_type in snapshot_plan.outside.silenced.items():
            iterator = self._iterator(snapshot_plan.outside.flat.nodes[name]) if op_type == _NEXT else None
            if iterator is None or iterator in seen:
                return f"{name} ({op_type}) acts outside of it"
            seen.add(iterator)
        return ""

    @property
    def draws(self) -> bool:
        """Whether calls draw something from outside, which is known only after the call."""
        outside = self._snapshot_plan.outside
        return outside is not None and bool(outside.silenced)

    def effect(self, held: CallSnapshot) -> CallOutcome:
        """What the plain function does from the state that `held` holds, with what was drawn.

        Raises:
            TfdbgError: it cannot be called on copies.
            tf.errors.OpError: what the call raises.

        """
        snapshot_plan = self._snapshot_plan
        inputs = self.inputs(held)
        with own_ops():
            outputs = compat.run_function(snapshot_plan.root.body.name, inputs, len(snapshot_plan.root.body.returns))
            compat.give_handle_data(self._atomic, outputs)
            handles = {at: inputs[at] for at in snapshot_plan.written}
            return CallOutcome(list(outputs), snapshot_plan.read_handles(held.inputs, handles))

    def inputs(self, held: CallSnapshot) -> list[EagerTensor]:
        """The inputs of `held` with copies of the variables that the call writes and of the batch that it drew.

        Raises:
            TfdbgError: the function cannot be called on copies.

        """
        if self.reason:
            raise TfdbgError(f"The function cannot be called on copies: {self.reason}.")
        with own_ops():
            copies, fresh = self._copied_variables(held), self._fresh_iterators(held)
            return [fresh.get(at, copies.get(id(handle), handle)) for at, handle in enumerate(held.inputs)]

    def _copied_variables(self, held: CallSnapshot) -> dict[int, EagerTensor]:
        """Handles of fresh variables in place of those that a call changes, by the identity of the old handles."""
        found: dict[int, EagerTensor] = {}
        for at in self._snapshot_plan.written:
            handle = held.inputs[at]
            if id(handle) not in found and self._snapshot_plan.is_variable(held.inputs, at):
                found[id(handle)] = fresh_variable(held.variable(at), str(handle.device))
        return found

    def _fresh_iterators(self, held: CallSnapshot) -> Mapping[int, EagerTensor]:
        """Iterators that give the drawn batch once more, by the position of the iterators that they replace."""
        outside = self._snapshot_plan.outside
        found: dict[int, EagerTensor] = {}
        for name in () if outside is None else outside.silenced:
            node = outside.flat.nodes[name] if outside is not None else None
            at = None if node is None else self._iterator(node)
            if node is None or at is None:
                continue
            types = list(node.template.attr["output_types"].list.type)
            shapes = [tf.TensorShape(shape) for shape in node.template.attr["output_shapes"].list.shape]
            drawn = [held.drawn.get(TensorName(name, slot)) for slot in range(len(types))]
            if any(tensor is None for tensor in drawn):
                raise TfdbgError(f"What {name} drew during the run was not taken.")
            found[at] = _iterator_of(drawn, [tf.as_dtype(dtype) for dtype in types], shapes)
        return found

    def _iterator(self, node: FlatNode) -> int | None:
        """The position among the inputs of the iterator that `node` draws from; None if it is made inside."""
        root = self._snapshot_plan.root
        at = root.argument_positions.get(node.inputs[0]) if node.inputs else None
        return at if at is not None and root.body.argument_types[at] == RESOURCE else None


def _iterator_of(batch: list[EagerTensor], types: list[DType], shapes: list[tf.TensorShape]) -> EagerTensor:
    """The handle of an iterator that gives `batch`, and then no more."""
    with tf.device("CPU:0"):
        dataset = tf.raw_ops.TensorDataset(components=batch, output_shapes=[tensor.shape for tensor in batch])
        iterator = tf.raw_ops.AnonymousIteratorV3(output_types=types, output_shapes=shapes)
        tf.raw_ops.MakeIterator(dataset=dataset, iterator=iterator)
    return iterator
