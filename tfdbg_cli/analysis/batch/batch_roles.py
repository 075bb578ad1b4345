"""Which part of a batch is which: inputs (x), targets (y) or sample weights, told by where the graph uses it.

A part that meets a parameter first is an input. One that first meets what was computed of inputs and parameters, as
in a loss, is a target, unless parameters are multiplied with what becomes of both, or inputs once more: then one
input was joined with another, as with an embedding, or is an attention mask. One that is multiplied with what was
computed of targets too is a weight. One that is multiplied with what was computed of inputs and parameters, other
than a logarithm, may be a target or a mask: of it nothing is told. Nor of one behind which another part is
subtracted: that are no losses, but as in reinforcement learning log-probabilities of actions, less those of a policy
before.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from tfdbg_cli.analysis.graph.flow.deliveries import delivers
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.making.node_facts import VARIABLE_OPS
from tfdbg_cli.analysis.graph.nodes.roles import Role, roles_of
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.intended_infinities import LOOKS
from tfdbg_cli.ops.kinds import (
    CALLS,
    INPUTS,
    MATMULS,
    MOVES,
    SAME_VALUE,
    SELECTS,
    SIGNS,
    VALUES_INPUT,
    VARIABLE_READS,
    WHERE_INPUTS,
)

_MOST_NODES = 20_000  # of a graph that is looked at
_MOST_FOLLOWED = 300  # nodes that are computed of one part alone
_READS_VARIABLE = VARIABLE_READS | VARIABLE_OPS
_LAYERS = MATMULS | {"Conv2D", "Conv3D", "DepthwiseConv2dNative", "Einsum"}  # no loss multiplies with parameters so
_LOGARITHMS = frozenset({"Log", "Log1p", "LogSoftmax"})  # which targets are multiplied with, as in a cross entropy
_ALONE = ":"  # no name of a node
_NUMBERED = re.compile(r"^(?P<stem>.+?)(?:_\d+)?$")


class BatchRole(StrEnum):
    """What a part of a batch is to the program that trains."""

    INPUTS = "the inputs (x)"
    TARGETS = "the targets (y)"
    WEIGHTS = "the sample weights"


@dataclass(frozen=True)
class ToldParts:
    """What somebody knows of the tensors of a batch: the role of each, and what it is called (or "").

    In the order in which a pipeline gives all of them, and of those that came in one by one by their names.
    """

    roles: tuple[BatchRole, ...] = ()
    keys: tuple[str, ...] = ()
    alone: Mapping[TensorName, tuple[BatchRole, str]] = field(default_factory=dict)


def batch_role_behind(lineage: Lineage, item: InputSeen, roles: Sequence[BatchRoles]) -> BatchRole | None:
    """What part of a batch `item` is, seen through ops that only move elements; `roles` are those of the graphs."""
    name, node = item.name, item.node
    for _ in range(_MOST_FOLLOWED):
        found = next((role for each in roles if (role := each.role(name)) is not None), None)
        if found is not None or node is None:
            return found
        if not (node.op_type in SAME_VALUE or node.op_type in MOVES or lineage.takes_out(node)):
            return found
        edges = lineage.edges(node)
        position = SAME_VALUE.get(node.op_type, 0)
        position = name.slot if position is None else position
        if position >= len(edges):
            return None
        name, node = edges[position].tensor, edges[position].node
    return None


def told_parts(run: Run) -> ToldParts:
    """What Keras says of the parts of a batch; nothing where it does not."""
    told = {name: place for name, place in run.call.came.items() if place.parts}
    alone = {
        tensor_name_of(name): (role, "".join(place.keys))
        for name, place in told.items()
        if not place.handle and sum(place.parts) == 1
        for role, count in zip(BatchRole, place.parts, strict=False)
        if count
    }
    found = next((place for place in told.values() if place.handle or sum(place.parts) > 1), None)
    if found is None:
        return ToldParts(alone=alone)
    roles = [role for role, count in zip(BatchRole, found.parts, strict=False) for _ in range(count)]
    return ToldParts(tuple(roles), found.keys or ("",) * len(roles), alone)


def _gives(node: Node) -> int:
    """How many tensors an op of a pipeline gives, by the attribute that lists their types."""
    listed = node.attributes.get("output_types", "").strip("[] ")
    return len(listed.split(",")) if listed else 0


def _elements_read(node: Node) -> Sequence[TensorName]:
    """The inputs of `node` whose elements it gives or computes with: not those that say which lie where.

    Such are the row splits of a ragged argument, which is one part of the batch and no two.
    """
    where, values = WHERE_INPUTS.get(node.op_type, frozenset[int]()), VALUES_INPUT.get(node.op_type)
    return [one for at, one in enumerate(node.inputs) if at not in where and (values is None or at in values)]


class BatchRoles:
    """The roles of the parts of the batch in one graph; `captured` are its placeholders that hold no batch.

    `alone` are parts of one batch whose names do not say so, as those that eager ops were given. `unfinished` says
    that the run goes on: before its gradient begins, a mask that meets the output of a layer looks like the targets.
    `told` is what is known of the parts without looking at the graph.
    """

    def __init__(
        self,
        graph: Graph,
        captured: frozenset[str],
        alone: Sequence[TensorName] = (),
        *,
        unfinished: bool = False,
        told: ToldParts | None = None,
    ) -> None:
        self._graph = graph
        self._told = told or ToldParts()
        self._is_open = unfinished and Role.GRADIENT not in roles_of(graph).values()
        self._captured = captured
        self._alone = list(alone)
        self._known: dict[str, dict[TensorName, BatchRole]] = {}

    def role(self, tensor: TensorName) -> BatchRole | None:
        """What `tensor`, a part of a batch as it comes into the graph, is; None for another, or where it is open."""
        node = self._graph.find(tensor.node)
        if node is None:
            return None
        if tensor in self._told.alone:
            return self._told.alone[tensor][0]
        if self._is_told(node):
            return self._told.roles[tensor.slot] if tensor.slot < len(self._told.roles) else None
        if self._is_open or len(self._graph) > _MOST_NODES:
            return None
        alone = tensor in self._alone
        key = _ALONE if alone else tensor.node if delivers(self._graph, node) else self._stem(node)
        if key and key not in self._known:
            self._known[key] = self._read(self._alone if alone else self._parts(node))
        return self._known[key].get(tensor) if key else None

    def key(self, tensor: TensorName) -> str:
        """What `tensor`, a part of a batch as it comes into the graph, is called in it; empty for no name."""
        node = self._graph.find(tensor.node)
        if tensor in self._told.alone:
            return self._told.alone[tensor][1]
        told = node is not None and self._is_told(node) and tensor.slot < len(self._told.keys)
        return self._told.keys[tensor.slot] if told else ""

    def _is_told(self, node: Node) -> bool:
        return bool(self._told.roles) and delivers(self._graph, node) and _gives(node) == len(self._told.roles)

    def _stem(self, node: Node) -> str:
        if node.op_type not in INPUTS or node.name in self._captured:
            return ""
        match = _NUMBERED.match(node.name)
        return match["stem"] if match is not None else ""

    def _parts(self, node: Node) -> list[TensorName]:
        """The parts of the batch that `node` is, or belongs to: outputs of one op, or arguments `data`, `data_1` …"""
        if delivers(self._graph, node):
            slots = sorted({slot for _, slot in self._graph.consumers(node.name)})
            return [TensorName(node.name, slot) for slot in slots]
        stem = self._stem(node)
        return [TensorName(one.name, 0) for one in self._graph if self._stem(one) == stem]

    def _read(self, parts: list[TensorName]) -> dict[TensorName, BatchRole]:
        """The roles of `parts`; none unless there are inputs and targets among them."""
        scaling: set[TensorName] = set()
        multiplied: set[TensorName] = set()
        met = {part: self._meets(part, set(parts), scaling, multiplied) for part in parts}
        found = {part: BatchRole.INPUTS for part, others in met.items() if others is not None and not others}
        inputs = set(found)
        for part, others in met.items():
            if others and others <= inputs and part not in scaling:
                found[part] = BatchRole.TARGETS
        targets = {part for part, role in found.items() if role is BatchRole.TARGETS}
        for part, others in met.items():
            if others and part not in found and others & targets and part in multiplied:
                found[part] = BatchRole.WEIGHTS
        return found if inputs and targets else {}

    def _meets(
        self, part: TensorName, parts: set[TensorName], scaling: set[TensorName], multiplied: set[TensorName]
    ) -> set[TensorName] | None:
        """Of which other parts that is made which `part` meets first, parameters being in it; None: it meets nothing.

        Empty for a part that meets a parameter itself, be it in a layer behind the place where it meets others.
        A part that may be a mask there as well, or of which no loss is made, is put into `scaling`, and one that
        meets others in a product into `multiplied`.
        """
        waiting, met = deque([part]), {part}
        first: set[TensorName] | None = None
        while waiting and len(met) < _MOST_FOLLOWED:
            tensor = waiting.popleft()
            for reader, slot in self._graph.consumers(tensor.node):
                if slot != tensor.slot or not self._computes(reader) or tensor not in _elements_read(reader):
                    continue
                if first is None:
                    others, parameters, _ = self._beside(reader, met, parts)
                    first = others - {part} if parameters else None
                    if first is not None and not first:
                        return set()
                    if first is not None and (self._scales(reader, met) or self._hides(reader, met, parts)):
                        scaling.add(part)
                    if first is not None and reader.op_type == "Mul":
                        multiplied.add(part)
                elif reader.op_type == "Sub" and self._meets_data(reader, met, parts):
                    scaling.add(part)
                elif reader.op_type in _LAYERS and self._goes_on(reader, met, parts):
                    return set()
                further = [name for name in self._outputs(reader) if name not in met]
                met.update(further)
                waiting.extend(further)
        return first

    def _goes_on(self, reader: Node, met: set[TensorName], parts: set[TensorName]) -> bool:
        """Whether `reader` multiplies what was `met` with parameters, or once more with inputs: no loss does that.

        An attention mask meets scores, which are made of inputs and parameters; the shares are of inputs again.
        """
        _, _, alone = self._beside(reader, met, parts)
        return alone or any(self._behind(other, parts)[0] for other in reader.inputs if other not in met)

    def _meets_data(self, reader: Node, met: set[TensorName], parts: set[TensorName]) -> bool:
        """Whether `reader` computes with what was `met` and with another part in which there are no parameters."""
        behind = (self._behind(other, parts) for other in reader.inputs if other not in met)
        return any(others and not parameters for others, parameters in behind)

    def _scales(self, reader: Node, met: set[TensorName]) -> bool:
        """Whether `reader` multiplies what was `met` with something else than a logarithm."""
        if reader.op_type != "Mul":
            return False
        for other in reader.inputs:
            maker = self._graph.find(other.node)
            while maker is not None and (maker.op_type in SIGNS or maker.op_type in SAME_VALUE) and maker.inputs:
                maker = self._graph.find(maker.inputs[0].node)
            if other not in met and maker is not None and maker.op_type in _LOGARITHMS:
                return False
        return True

    def _hides(self, reader: Node, met: set[TensorName], parts: set[TensorName]) -> bool:
        """Whether `reader` chooses by what was `met`, at some elements something that no part of the batch is in."""
        if reader.op_type not in SELECTS or reader.inputs[0] not in met:
            return False
        return not all(self._behind(other, parts)[0] for other in reader.inputs[1:])

    def _beside(
        self, reader: Node, met: set[TensorName], parts: set[TensorName]
    ) -> tuple[set[TensorName], bool, bool]:
        """What `reader` reads beside those `met`: parts that meet parameters there, whether any do, some alone."""
        others: set[TensorName] = set()
        parameters, alone = reader.op_type in _READS_VARIABLE, False
        for other in reader.inputs:
            if other in met:
                continue
            behind, read = self._behind(other, parts)
            parameters = parameters or read
            alone = alone or (read and not behind)
            others |= behind if read else set()
        return others, parameters, alone

    def _computes(self, node: Node) -> bool:
        """Whether `node` is of the forward pass, and computes with the elements that it reads."""
        forward = roles_of(self._graph).get(node.name, Role.FORWARD) is Role.FORWARD
        return forward and node.op_type not in LOOKS and node.op_type not in CALLS

    def _outputs(self, node: Node) -> Iterator[TensorName]:
        for slot in sorted({slot for _, slot in self._graph.consumers(node.name)}):
            yield TensorName(node.name, slot)

    def _behind(self, tensor: TensorName, parts: set[TensorName]) -> tuple[set[TensorName], bool]:
        """Which of `parts` `tensor` is made of, and whether it is made of a variable too."""

        def read_by(current: TensorName) -> Sequence[TensorName]:
            node = None if current in parts else self._graph.find(current.node)
            return () if node is None or node.op_type in LOOKS else _elements_read(node)

        behind = set(reached([tensor], read_by))
        makers = filter(None, (self._graph.find(one.node) for one in behind - parts))
        variable = any(node.op_type in _READS_VARIABLE or node.name in self._captured for node in makers)
        return behind & parts, variable
