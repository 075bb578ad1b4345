"""What runs of a function draw from the world outside and change in it, and what stands in the way of a replay.

A run can be made again from its arguments, the values of its variables, and what its source ops drew. What only
changes the world (prints, summaries, queues) is left out then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.called_functions import called_by
from tfdbg_cli.capture.functions.definition.effects import (
    SideEffect,
    drawing_in,
    side_effect_of,
    type_in_variable,
    writes_variable,
)
from tfdbg_cli.capture.functions.definition.flat import FlatFunction, FlatNode, flat_function
from tfdbg_cli.capture.functions.definition.flat_part import FlatDefinition, part_of
from tfdbg_cli.capture.tf.types import NodeDef, TfGraph
from tfdbg_cli.model.dtypes import RESOURCE, VARIANT
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.kinds import IDENTITIES, PYTHON

_EXCHANGES = re.compile(r"(Collective|Nccl)\w+")


class NotReplayableError(Exception):
    """A run, or a part of it, cannot be made again; the words say what stands in the way."""


@dataclass(frozen=True)
class ReplayPart:
    """The `part` of a function that is made again; among its outputs are the `returned` ones."""

    part: FlatDefinition
    returned: tuple[TensorName, ...]


@dataclass
class Outside:
    """What runs of the function `flat` have to do with the world outside of them.

    `drawn` has the outputs of ops that draw from it, with the op type. `silenced` has the names of these ops and of
    those that only change the world, with the op type: a replay leaves them out. `graphs` are the FuncGraphs of the
    function and of those below, by name, as far as they are kept.
    """

    flat: FlatFunction
    graphs: Mapping[str, TfGraph]
    drawn: dict[TensorName, str] = field(default_factory=dict)
    silenced: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in self.flat.nodes.values():
            if node.scope is not None and side_effect_of(node.op_type) in (SideEffect.SOURCE, SideEffect.EFFECT):
                self.silenced[node.name] = node.op_type
                self.drawn.update(dict.fromkeys(node.outputs, node.op_type))

    @property
    def to_take(self) -> frozenset[TensorName]:
        """The tensors that a snapshot must take while a run happens: what ops draw, as far as it holds numbers."""
        flat = self.flat
        return frozenset(name for name in self.drawn if flat.nodes[name.node].is_needed and flat.has_numbers(name))

    @property
    def exchange(self) -> str:
        """An op by which replicas exchange values, as `node (op type)`; empty when there is none.

        A run is made again without the other replicas, so that what such an op gave comes from outside.
        """
        found = (f"{name} ({op_type})" for name, op_type in self.silenced.items() if _EXCHANGES.fullmatch(op_type))
        return next(found, "")

    @property
    def limits(self) -> tuple[str, ...]:
        """Sentences about what is not quite the same in a run that is made again."""
        python = sorted(name for name, op_type in self.silenced.items() if op_type in PYTHON)
        return (f"The Python function at {python[0]} is not called again.",) if python else ()

    def whole(self) -> ReplayPart:
        """The whole run.

        Raises:
            NotReplayableError: it cannot be made again.

        """
        flat = self.flat
        returned = [name for name in flat.returns if flat.type_of(name) != RESOURCE]
        # XLA leaves out what only a print reads, and need not be able to compile it.
        compiled = flat.root.body.compiled
        seen = [name for name in self._seen_by_silenced() if flat.has_numbers(name) and not compiled]
        returns = dict.fromkeys([*returned, *seen, *sorted(self.to_take, key=str)])
        again = self._made(list(returns), returned, only_before=False)
        more = [] if compiled else list(self._shown_beside(again.part))
        return self._made([*returns, *more], returned, only_before=False) if more else again

    def before(self, returns: Sequence[TensorName]) -> ReplayPart:
        """The part of a run that computes `returns`, and the side effects that come before these.

        Raises:
            NotReplayableError: it cannot be made again.

        """
        return self._made(returns, returns, only_before=True)

    def _made(
        self, returns: Sequence[TensorName], returned: Sequence[TensorName], *, only_before: bool
    ) -> ReplayPart:
        name = f"{self.flat.root.body.name}__tfdbg_again"
        part = part_of(
            self.flat,
            name,
            returns,
            fed=self.drawn,
            with_effects=True,
            silenced=self.silenced.keys(),
            only_before=only_before,
        )
        self._require_replayable(part)
        self._tell_shapes(part)
        return ReplayPart(part, tuple(returned))

    def _require_replayable(self, part: FlatDefinition) -> None:
        for name in part.inputs:
            if name in self.drawn and not self.flat.has_numbers(name):
                raise NotReplayableError(f"what {name.node} ({self.drawn[name]}) gives holds no numbers")
            if name not in self.drawn and self.flat.type_of(name) == VARIANT:
                raise NotReplayableError(
                    f"its argument {name.node} (a variant, such as a list of tensors) holds no numbers"
                )
        handles = {name for name in part.inputs if self.flat.type_of(name) == RESOURCE}
        for node in map(self.flat.nodes.__getitem__, part.nodes):
            if node.name not in self.silenced:
                self._require_inside(node)
            elif node.is_hidden:
                raise NotReplayableError(f"{node.name} ({node.op_type}) is inside a loop or a branch of version 1")
            elif handles.intersection(node.inputs):
                raise NotReplayableError(f"{node.name} ({node.op_type}) is given a variable, and may change it")

    def _require_inside(self, node: FlatNode) -> None:
        """Make sure that what a node does stays inside the run.

        Raises:
            NotReplayableError: it does not.

        """
        if node.scope is None:
            return
        for name in called_by(node.template):
            found = drawing_in(name)
            if found:
                raise NotReplayableError(f"{found} inside {node.name} draws from outside, in a branch or loop")
        if (
            self.flat.handles.intersection(node.inputs)
            and side_effect_of(node.op_type) is SideEffect.NOTHING
            and node.op_type not in IDENTITIES
        ):
            raise NotReplayableError(f"{node.name} ({node.op_type}) is given a resource that is no variable")

    def _tell_shapes(self, part: FlatDefinition) -> None:
        """Declare the shapes of what was drawn, as far as the program knew them: the graph optimizer goes by them."""
        for position, name in enumerate(part.inputs):
            node = self.flat.nodes[name.node] if name in self.drawn else None
            graph = None if node is None or node.scope is None else self.graphs.get(node.scope.body.name)
            if node is not None and graph is not None:
                shape = graph.get_operation_by_name(node.template.name).outputs[name.slot].shape
                part.definition.arg_attr[position].attr["_output_shapes"].list.shape.append(shape.as_proto())

    def _seen_by_silenced(self) -> Iterator[TensorName]:
        """The inputs of the silenced nodes, which a replay must still compute for the screen."""
        for node in map(self.flat.nodes.__getitem__, self.silenced):
            if node.is_needed:
                yield from node.inputs

    def _shown_beside(self, part: FlatDefinition) -> Iterator[TensorName]:
        """The values that a run shows although nothing of `part` needs them."""
        computed = set(part.nodes)
        for node in self.flat.nodes.values():
            if node.name not in computed and node.name not in self.silenced and node.is_needed:
                yield from filter(self.flat.has_numbers, node.outputs)


def outside_of(root: Scope, graphs: Mapping[str, TfGraph]) -> Outside:
    """What runs of the function of `root` have to do with the world outside of them.

    Raises:
        RecursionError: its calls are nested too deep.

    """
    return Outside(flat_function(root), graphs)


def written_by(root: Scope) -> tuple[int, ...]:
    """The positions, among the arguments, of the handles of the variables that a run may change."""
    handles = _handles_given_to(root)
    found: set[int] = set()
    for scope, node in _needed(root):
        if writes_variable(node.op) or (node.name not in scope.calls and called_by(node)):
            for name in map(scope.resolve, scope.body.handles(node)):
                if name not in handles:  # an Identity or a branch in between: it may be any of them
                    return tuple(handles.values())
                found.add(handles[name])
    return tuple(sorted(found))


def types_in_variables(root: Scope) -> dict[int, int]:
    """The element types of variables by the position of their handles, as far as the ops of the function tell."""
    handles = _handles_given_to(root)
    found: dict[int, int] = {}
    for scope, node in _needed(root):
        dtype = type_in_variable(node)
        for name in () if dtype is None else map(scope.resolve, scope.body.handles(node)):
            if name in handles and dtype is not None:
                found[handles[name]] = dtype
    return found


def _handles_given_to(root: Scope) -> dict[TensorName, int]:
    """The positions of the handles among the arguments."""
    types = root.body.argument_types
    return {name: at for name, at in root.argument_positions.items() if types[at] == RESOURCE}


def _needed(root: Scope) -> Iterator[tuple[Scope, NodeDef]]:
    for scope in root.all():
        for node in scope.needed.nodes:
            yield scope, node
