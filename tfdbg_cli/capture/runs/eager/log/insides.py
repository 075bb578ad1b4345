"""The insides of a function that eager code called: its nodes among the eager ops, and their values where needed."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.functions.signature.arguments import Slot
from tfdbg_cli.capture.runs.eager.log.noted_ops import CALLED, Noted, RecentOp
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.types import AttributeList, EagerTensor
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.statistics import any_nonfinite
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Array
from tfdbg_cli.process.interruptions import our_errors

_SMALL = 300  # nodes
_MOST = 256 << 20  # bytes of values that are computed again


@dataclass(frozen=True, eq=False)
class Insides:
    """A function that eager code called, by its nodes and the values of a call.

    The values are `held` where the call was made so that it gave them all; else some can be computed again.
    `failure` is the error by which it failed, `run` the number of the run that the call was, if it was one. What is
    called once has a `snapshot` of that, by which it is made again: the tensors that it captured count as given.
    """

    traced: TracedFunction
    held: TensorStore | None = None
    failure: RunError | None = None
    run: int | None = None
    snapshot: CallSnapshot | None = None

    @property
    def graph(self) -> Graph:
        """The nodes, with the variables after their update where these are held."""
        return self.traced.graph if self.held is None else self.traced.watched_graph

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the nodes for what the function is given, by the program or by a forward function."""
        return tuple(slot.argument.name for slot in self.traced.slots if self.is_given(slot))

    def is_given(self, slot: Slot) -> bool:
        """Whether what comes in at `slot` is given to the call."""
        return self.traced.is_argument(slot) or (self.snapshot is not None and slot.variable is None)

    def nodes(self, scope: str, given: Mapping[str, TensorName]) -> Iterator[tuple[str, Node]]:
        """Pairs of a node's own name and the node moved under `scope`, without arguments.

        Where a node reads an argument it now reads the tensor that was `given` for it. The forward function of a
        gradient is left out: it was called before, and is there as that call.
        """
        forward = self.traced.forward
        for node in self.graph:
            if node.name not in given and not (forward is not None and forward.has(node.name)):
                read = tuple(within(scope, tensor, given) for tensor in node.inputs)
                waited = tuple(f"{scope}/{control}" for control in node.control_inputs if control not in given)
                name = f"{scope}/{node.name}"
                yield node.name, node._replace(name=name, inputs=read, control_inputs=waited)

    def values(self, inputs: Sequence[Array | None], outputs: Sequence[Array | None]) -> TensorStore | None:
        """All values of a call with `inputs` that gave `outputs`; None where they are neither held nor computed.

        They are computed by calling the function again, out of the program's sight. That is done only if it has no
        draws and side effects, and a large function is called only if it made non-finite outputs of finite inputs.
        Variables may have changed since: what was computed of them counts only if the outputs are the same bits.
        """
        if self.held is not None:
            return self.held
        traced = self.traced
        if any(value is None for value in inputs):
            return None
        if self.snapshot is not None:
            return _made_again(self.snapshot)
        if len(traced.graph) > _SMALL and (any(map(_is_bad, inputs)) or not any(map(_is_bad, outputs))):
            return None
        plan = traced.snapshot_plan
        if plan.outside is None or plan.outside.silenced or plan.written or plan.reason:
            return None
        try:
            given = self._given(inputs)
            if given is None:
                return None
            with own_ops():
                found = traced.instrumented.perform(given, _MOST)
                alike = len(given) == len(inputs) or _are_same(outputs, found.outputs)
        except our_errors() as error:  # then its values are not known
            report("compute the insides of a function again", error)
            return None
        return found.captured if alike else None

    def _given(self, inputs: Sequence[Array | None]) -> list[EagerTensor] | None:
        """All that a call is given: `inputs` for its arguments, and its variables; None if it needs anything else."""
        found: list[EagerTensor] = []
        rest = iter(inputs)
        for slot in self.traced.slots:
            given = slot.constant if slot.variable is None else getattr(slot.variable, "handle", None)
            if self.is_given(slot):
                value = next(rest, None)
                given = None if value is None else tf.constant(value)
            if type(given) is not compat.EagerTensor:
                return None
            found.append(given)
        return found


def _made_again(snapshot: CallSnapshot) -> TensorStore | None:
    """All values of the call; None where it cannot be made again, as one that drew random numbers."""
    try:
        with own_ops():
            return None if snapshot.plan.again is None or snapshot.plan.sources else snapshot.again(_MOST).tensors
    except our_errors() as error:
        report("make a call again that vectorized eager code", error)
        return None


def _are_same(outputs: Sequence[Array | None], again: Sequence[EagerTensor]) -> bool:
    """Whether those of the `outputs` that are held, one at least, are what came out `again`."""
    held = [(value, tensor) for value, tensor in zip(outputs, again, strict=False) if value is not None]
    return bool(held) and all(_bits(value) == _bits(tensor.numpy()) for value, tensor in held)


def _bits(value: Array) -> tuple[str, bytes]:
    array = np.asarray(value)
    return str(array.dtype), array.tobytes()


def call_of(insides: Insides) -> AttributeList:
    """The attributes of an op that called what has these `insides`.

    A function of which no values are held is referred to weakly: it and its variables die when the program lets go of
    them. So is what has a snapshot, which who took it keeps for a while.
    """
    if insides.held is not None:
        return CALLED, lambda: insides
    if insides.snapshot is not None:
        return CALLED, weakref.ref(insides)
    traced, run = weakref.ref(insides.traced), insides.run
    return CALLED, lambda: None if (there := traced()) is None else Insides(there, run=run)


def is_call(op: Noted | RecentOp) -> bool:
    """Whether `op` called a function."""
    return len(op.attributes) == 2 and op.attributes[0] is CALLED


def called_by(op: Noted | RecentOp) -> Insides | None:
    """What is inside of the function that `op` called; None of an op that called none, or one that is gone."""
    found: Insides | None = op.attributes[1]() if is_call(op) else None
    return found


def within(scope: str, name: TensorName, given: Mapping[str, TensorName]) -> TensorName:
    """The name of a function's tensor among the eager ops: for an argument what was `given`, else under `scope`."""
    return given.get(name.node) or TensorName(f"{scope}/{name.node}", name.slot)


def _is_bad(value: Array | None) -> bool:
    array = np.asarray(value)
    return array.dtype.kind in "fcV" and any_nonfinite(array)
