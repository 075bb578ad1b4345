"""The eager ops before a call of a function that made its arguments: a part of its run, which is not made again.

They stand in the graph of the run under the scope `eager/` (`capture/runs/eager/log/past.py`). The arguments, which
elsewhere read nothing, hand on what these ops made (`GIVEN_BY`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from tfdbg_cli.model.gathered import GatheredTensors, Row
from tfdbg_cli.model.graph import GIVEN_BY, Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, TensorStore
from tfdbg_cli.model.walks import reached

_ARGUMENT, _HANDS_ON = "Placeholder", "Identity"
_NOTE = "What is under `eager/` ran before this call, op by op: it is shown as it was recorded."


def arguments_made(graph: Graph) -> dict[str, TensorName]:
    """By the name of an argument of the function, the output of an eager op that it is."""
    return {
        node.name: node.inputs[0]
        for node in graph
        if node.op_type == _HANDS_ON and GIVEN_BY in node.attributes and node.inputs
    }


def past_in(graph: Graph) -> frozenset[str]:
    """The names of the nodes that ran before the function was called."""
    return frozenset(reached((made.node for made in arguments_made(graph).values()), _needs(graph)))


def behind_past(node: Node, made: Mapping[str, TensorName]) -> Node:
    """A node of the function alone as it is behind its past: an argument reads what was `made` for it."""
    given = made.get(node.name)
    if given is None:
        return node
    attributes = {**node.attributes, GIVEN_BY: str(given)}
    return node._replace(op_type=_HANDS_ON, inputs=(given,), attributes=attributes)


def rows_behind_past(tensors: TensorStore, made: Mapping[str, TensorName]) -> list[Row]:
    """The rows of a function alone, in which the arguments that were `made` by eager ops hand that on."""
    own = [row for row in range(len(tensors)) if tensors[row].node in made]
    handing_on = MemoryTensorStore(
        [replace(tensors[row], op_type=_HANDS_ON) for row in own], [tensors.value(row) for row in own]
    )
    instead: dict[int, Row] = {row: (handing_on, place) for place, row in enumerate(own)}
    return [instead.get(row, (tensors, row)) for row in range(len(tensors))]


def without_past(run: Run) -> Run:
    """`run` with the graph of the function alone, whose arguments read nothing."""
    arguments = arguments_made(run.graph)
    if not arguments:
        return run
    past = past_in(run.graph)
    nodes = (_alone(node) if node.name in arguments else node for node in run.graph if node.name not in past)
    return replace(run, graph=Graph(nodes, run.graph.kind))


def with_recorded_past(run: Run, recorded: Run) -> Run:
    """`run`, a function made again alone, behind what ran before the call as it was `recorded`.

    Of a gradient that is its forward part, too.
    """
    past, made = past_in(recorded.graph), arguments_made(recorded.graph)
    if not past:
        return run
    nodes = [node for node in recorded.graph if node.name in past]
    nodes += [behind_past(node, made) for node in run.graph]
    before, shown = recorded.tensors, past | _forward_part(run)
    own = rows_behind_past(run.tensors, made)
    again = {store[row].name for store, row in own}
    rows = [
        (before, row) for row in range(len(before)) if before[row].node in shown and before[row].name not in again
    ]
    tensors = GatheredTensors([*rows, *own])
    return replace(run, graph=Graph(nodes, run.graph.kind), tensors=tensors, notes=(*run.notes, _NOTE))


def with_own_arguments(graph: Graph, given: Collection[TensorName]) -> Graph:
    """`graph` in which those of the arguments that are `given` a value read nothing that eager ops made."""
    own = {name for name in arguments_made(graph) if TensorName(name, 0) in given}
    return Graph((_alone(node) if node.name in own else node for node in graph), graph.kind) if own else graph


def with_like_arguments(first: Run, second: Run) -> tuple[Run, Run]:
    """Both, with graphs in which those arguments read nothing that have another value in one of them, by `set`.

    What eager ops made for the other one is no part of what the function did with either.
    """
    given = {*first.replaced, *second.replaced}
    return _given_own(first, given), _given_own(second, given)


def _given_own(run: Run, given: Collection[TensorName]) -> Run:
    graph = with_own_arguments(run.graph, given) if given else run.graph
    return run if graph is run.graph else replace(run, graph=graph)


def _alone(node: Node) -> Node:
    return node._replace(op_type=_ARGUMENT, inputs=(), attributes=_without(node))


def _forward_part(run: Run) -> frozenset[str]:
    """The nodes of a gradient that led to what its forward function handed over: that is given, and not computed."""
    tensors, graph = run.tensors, run.graph
    found = {tensors[row].node for row in range(len(tensors)) if tensors[row].op_type == _ARGUMENT}
    handed = [name for name in found if (node := graph.find(name)) is not None and node.op_type != _ARGUMENT]
    return frozenset(reached(handed, _needs(graph)))


def _needs(graph: Graph) -> Callable[[str], tuple[str, ...]]:
    def needs(name: str) -> tuple[str, ...]:
        node = graph.find(name)
        return () if node is None else node.needs

    return needs


def _without(node: Node) -> Mapping[str, str]:
    return {name: value for name, value in node.attributes.items() if name != GIVEN_BY}
