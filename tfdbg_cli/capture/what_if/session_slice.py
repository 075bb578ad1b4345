"""Which part of a session's graph is computed from given tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

from tfdbg_cli.capture.functions.definition.called_functions import functions_in
from tfdbg_cli.capture.sessions.function_definitions import function_definitions
from tfdbg_cli.capture.sessions.holders import held_by, holder_of
from tfdbg_cli.capture.sessions.reach import ancestors, nests_of
from tfdbg_cli.capture.tf.opaque import is_opaque
from tfdbg_cli.capture.tf.types import NodeDef, Op, SymbolicTensor
from tfdbg_cli.capture.what_if.effects import DRAWS, WRITES, RerunEffect, effect_of
from tfdbg_cli.capture.what_if.kept_draws import why_not_drawn
from tfdbg_cli.capture.what_if.slices import Kept, RunEdges
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.values import Array
from tfdbg_cli.model.walks import depth_first, reached
from tfdbg_cli.ops.control_flow import inside
from tfdbg_cli.ops.effects import Does, StatePlace, does
from tfdbg_cli.ops.kinds import CALLS, CONTROL_FLOW

_FLOWS = frozenset({"flow", "flow_out"})
_PASSING = CONTROL_FLOW | {"Identity"}
_POPS = frozenset({"StackPop", "StackPopV2"})


class SessionCallGraph(RunEdges[Op, str]):
    """What one call of a session computes: its ops, inputs first, and who reads what among them.

    Tensors go by their names, since they cannot be compared.
    """

    def __init__(self, ends: Sequence[Op], feeds: Mapping[str, Any]) -> None:
        """The call that runs the operations `ends` while `feeds`, values by the names of tensors, are fed."""
        self.ends = ends
        self.feeds = feeds
        self._graph = ends[0].graph

    def tensor(self, name: str) -> SymbolicTensor:
        """The tf.Tensor called `name`."""
        return self._graph.get_tensor_by_name(name)

    @cached_property
    def ops(self) -> dict[str, Op]:
        """The ops that the call runs."""
        return {op.name: op for op in ancestors(self.ends, self.feeds)}

    @cached_property
    def whole(self) -> Sequence[Op]:
        """Those ops, and the further ones that would run if nothing were fed."""
        fed_ops = [self._graph.as_graph_element(name).op for name in self.feeds]
        return ancestors([*self.ends, *fed_ops], ())

    @cached_property
    def hidden(self) -> frozenset[str]:
        """The ops inside loops and branches of version 1."""
        return inside(nests_of(list(self.ops.values()), frozenset(self.feeds)))

    @cached_property
    def flows(self) -> frozenset[str]:
        """The flow tensors, which only put the uses of a TensorArray in order; their numbers mean nothing."""
        found: set[str] = set()
        for op in self.ops.values():
            if does(op.type, {Does.FOLLOWS}, {StatePlace.TENSOR_ARRAY}):
                names = [argument.name for argument in op.op_def.output_arg]
                found.update(tensor.name for name, tensor in zip(names, op.outputs, strict=False) if name in _FLOWS)
            elif op.type in _PASSING and any(tensor.name in found for tensor in op.inputs):
                found.update(tensor.name for tensor in op.outputs)
        return frozenset(found)

    @cached_property
    def behind_loops(self) -> frozenset[str]:
        """The ops that are computed from what loops and branches of version 1 give."""
        found: set[str] = set()
        for op in self.ops.values():
            if any(tensor.op.name in self.hidden or tensor.op.name in found for tensor in op.inputs):
                found.add(op.name)
        return frozenset(found)

    def takes_from_loop(self, names: Iterable[str]) -> bool:
        """Whether one of the ops takes values from a stack that an earlier loop has filled, as gradients of loops do.

        Both loops must then run together, from values known before the first one.
        """
        return any(name in self.ops and self.ops[name].type in _POPS for name in names)

    def run_before(
        self, ends: Iterable[Op], known: Callable[[SymbolicTensor], Array | None]
    ) -> tuple[list[Op], dict[str, Array]]:
        """The ops that have to run for `ends`, with these, and what is fed to them: values that are `known`."""
        feeds: dict[str, Array] = {}

        def before(op: Op) -> Iterator[Op]:
            for tensor in op.inputs:
                if tensor.name in feeds:
                    continue
                value = known(tensor)
                if value is None:
                    yield tensor.op
                else:
                    feeds[tensor.name] = value
            if op.name in self.hidden:
                yield from (one for one in op.control_inputs if one.name in self.hidden)

        return list(depth_first(ends, before)), feeds

    @property
    def nodes(self) -> Mapping[str, Op]:
        return self.ops

    def readers(self, tensor: str) -> Iterator[Op]:
        return (op for op in self.tensor(tensor).consumers() if op.name in self.ops)

    def outputs(self, node: Op) -> Iterator[str]:
        return (tensor.name for tensor in node.outputs)

    def effects(self, op: Op) -> set[RerunEffect]:
        """What `op` does, and all that is in the functions that it calls."""
        return set(map(effect_of, self._op_types(op)))

    def _op_types(self, op: Op) -> set[str]:
        """The type of `op`, or those in the functions that it calls; of one that nobody knows its name."""
        called = _called_by(op.node_def) if op.type in _CALLING else []
        if not called:
            return {op.type}
        bodies = self._bodies
        found: set[str] = set()
        for name in reached(called, lambda name: chain.from_iterable(map(_called_by, bodies.get(name, ())))):
            found.update(node.op for node in bodies.get(name, ()) if not _called_by(node))
            if name not in bodies:
                found.add(name)
        return found

    @cached_property
    def _bodies(self) -> dict[str, Sequence[Any]]:
        """The nodes of the functions that can be called, by their names."""
        return {name: one.node_def for name, one in function_definitions(self._graph).items()}

    def variables_of(self, op: Op) -> tuple[str, ...]:
        """The names of the ops that hold the variables whose handles or references `op` is given."""
        holders = (holder_of(tensor, self.feeds) for tensor in op.inputs if is_opaque(tensor))
        return tuple(dict.fromkeys(holder.name for holder in holders if holder is not None))

    @cached_property
    def writers(self) -> dict[str, list[str]]:
        """The ops of the call that change a variable, by the name of the op that holds it."""
        found: dict[str, list[str]] = {}
        for op in self.ops.values():
            for variable in self.written_by(op):
                found.setdefault(variable, []).append(op.name)
        return found

    def written_by(self, op: Op) -> tuple[str, ...]:
        """The names of the ops that hold the variables which `op` changes."""
        held, _ = held_by(op, self.feeds)  # not the variable of the old kind whose value it reads
        writes = held and not WRITES.isdisjoint(self.effects(op))
        return tuple(dict.fromkeys(holder.name for _, holder in held)) if writes else ()

    def writers_beside(self, node: Op) -> set[str]:
        writers = {writer for variable in self.variables_of(node) for writer in self.writers.get(variable, ())}
        return writers - {node.name}

    def before(self, node: Op) -> Iterator[str]:
        return (op.name for op in ancestors([node], self.feeds) if op.name != node.name)

    def why_kept(self, node: Op) -> Kept | None:
        effects = self.effects(node)
        if not DRAWS.isdisjoint(effects):
            if node.name in self.hidden:
                raise TfdbgError(
                    f"{node.name} ({node.type}) in a loop or branch gives something else each time, so the loop "
                    "cannot be computed again.",
                    hint="Replace a tensor behind the loop.",
                )
            return why_not_drawn(self._op_types(node))
        if effects == {RerunEffect.WRITE} and node.name not in self.hidden:
            return Kept.WRITES
        return Kept.LATE if self.is_late(node) else None


_CALLING = CALLS | {"SymbolicGradient", "RemoteCall"}


def _called_by(node: NodeDef) -> list[str]:
    return list(functions_in(node.attr)) if node.op in _CALLING else []
