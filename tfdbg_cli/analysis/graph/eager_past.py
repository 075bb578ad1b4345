"""The eager ops before a call of a function that made its arguments: a part of its run, which is not made again.

They stand in the graph of the run under the scope `eager/` (`capture/runs/eager/log/past.py`), and the arguments say
which of their outputs they are (`GIVEN_BY`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tfdbg_cli.model.gathered import GatheredTensors
from tfdbg_cli.model.graph import GIVEN_BY, Graph, Node
from tfdbg_cli.model.names import TensorName, parse_tensor_name
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import INPUTS

_NOTE = "What is under `eager/` ran before this call, op by op: it is shown as it was recorded."


def arguments_made(graph: Graph) -> dict[TensorName, TensorName]:
    """By what eager ops made, the argument of the function that it is."""
    return {
        made: TensorName(node.name, 0)
        for node in graph
        if node.op_type in INPUTS and (made := parse_tensor_name(node.attributes.get(GIVEN_BY, ""))) is not None
    }


def past_in(graph: Graph) -> frozenset[str]:
    """The names of the nodes that ran before the function was called."""

    def needs(name: str) -> tuple[str, ...]:
        node = graph.find(name)
        return () if node is None else node.needs

    return frozenset(reached((made.node for made in arguments_made(graph)), needs))


def without_past(run: Run) -> Run:
    """`run` with the graph of the function alone, which reads its arguments again."""
    arguments = arguments_made(run.graph)
    if not arguments:
        return run
    past = past_in(run.graph)
    nodes = (reading(node, arguments) for node in run.graph if node.name not in past)
    return replace(run, graph=Graph(nodes, run.graph.kind))


def with_recorded_past(run: Run, recorded: Run) -> Run:
    """`run`, a function made again alone, behind what ran before the call as it was `recorded`."""
    past = past_in(recorded.graph)
    if not past:
        return run
    made = {argument: name for name, argument in arguments_made(recorded.graph).items()}
    nodes = [node for node in recorded.graph if node.name in past]
    nodes += [reading(node, made) for node in run.graph]
    before, after = recorded.tensors, run.tensors
    rows = [(before, row) for row in range(len(before)) if before[row].node in past]
    tensors = GatheredTensors([*rows, *((after, row) for row in range(len(after)))])
    return replace(run, graph=Graph(nodes, run.graph.kind), tensors=tensors, notes=(*run.notes, _NOTE))


def reading(node: Node, instead: Mapping[TensorName, TensorName]) -> Node:
    """`node`, which now reads what stands `instead` of some of its inputs."""
    return node._replace(inputs=tuple(instead.get(one, one) for one in node.inputs))
