"""What is taken out of an Optional: the value that another op had put into it.

So a conditional hands what its forward branch computed to the branch with the gradients: it gives it in an Optional,
since another branch has none. What a pipeline gives in an Optional was put there by no op of the graph.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.flow.branches import branch_of_scope
from tfdbg_cli.analysis.graph.flow.call_results import branch_results
from tfdbg_cli.analysis.graph.flow.puts import puts_before
from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.analysis.graph.nodes.neighbours import Edge, Neighbours, neighbours_of
from tfdbg_cli.model.graph import LOOP_VARIABLE, Graph, Node, once_per_graph
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import BRANCHES, LOOPS, MERGE, SAME_VALUE, UNPACKS

_PACKS = "OptionalFromValue"
_POPS, _PUSHES = "TensorListPopBack", frozenset({"TensorListPushBack"})
_ALL_INPUTS = MERGE | {LOOP_VARIABLE}  # they give one of their inputs, now this and now that
_MOST_NODES = 500


@dataclass(frozen=True, slots=True)
class Packed:
    """The `edge` that was put into an Optional; `stacked` says that a turn of a loop put this onto a stack.

    The turns then take it off in the reverse order.
    """

    edge: Edge
    stacked: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """A tensor on the way back to where it was packed.

    `wanted` has the component that is asked for of each Optional around what is looked for, the outermost last.
    """

    edge: Edge
    wanted: tuple[int, ...]
    stacked: bool


def unpacked(graph: Graph, node: Node) -> tuple[Packed, ...]:
    """What may have been put into the Optional out of which `node` takes its value, one of them each time it ran.

    Empty for other ops, and where a pipeline gave the Optional, or a function that was called before.
    """
    if node.op_type not in UNPACKS:
        return ()
    known = _known(graph)
    key = node.name, node.device
    if key not in known:
        around = (branch_of_scope(scope) for scope in call_scopes(graph).around(node.name))
        known[key] = _found(neighbours_of(graph), node, frozenset(branch for branch in around if branch is not None))
    return known[key]


@once_per_graph
def _known(graph: Graph) -> dict[tuple[str, str], tuple[Packed, ...]]:
    """What was found for each op so far, by name and device."""
    return {}


def _found(neighbours: Neighbours, node: Node, branches: Container[str]) -> tuple[Packed, ...]:
    """What `node`, which is in these `branches` of conditionals, may take out of an Optional."""
    found: dict[Packed, None] = {}

    def further(place: _Place) -> Sequence[_Place]:
        maker, slot, wanted = place.edge.node, place.edge.tensor.slot, place.wanted
        if maker is None:
            return ()
        edges: Sequence[Edge] = neighbours.inputs(maker)
        stacked = place.stacked
        if maker.op_type in UNPACKS:
            wanted = (*wanted, slot)
        elif maker.op_type == _PACKS:
            *rest, component = wanted
            edges, wanted = edges[component : component + 1], tuple(rest)
            if not wanted:
                found.update((Packed(edge, stacked), None) for edge in edges)
                return ()
        elif maker.op_type == _POPS and slot == 1:
            pushes = puts_before(maker, neighbours.inputs, _PUSHES, all_of_them=False)
            edges, stacked = [edge for push in pushes for edge in neighbours.inputs(push)[1:2]], True
        else:
            edges = _handed_on(maker, slot, edges, branches)
        return [_Place(edge, wanted, stacked) for edge in edges]

    starts = [_Place(edge, (0,), False) for edge in neighbours.inputs(node)[:1]]
    for _ in reached(starts, further, most=_MOST_NODES):
        pass
    return tuple(found)


def _handed_on(maker: Node, slot: int, edges: Sequence[Edge], branches: Container[str]) -> Sequence[Edge]:
    """Those of the inputs of `maker`, its `edges`, that may become its output `slot` as they are.

    A branch with gradients is handed what the forward branch of the same name computed; several may share an output.
    """
    if maker.op_type in BRANCHES:
        positions = branch_results(maker, slot)
        if positions is None:
            given = [edge for edge in edges if edge.tensor.node.startswith(f"{maker.name}/")]
        else:
            given = [edges[at] for at in positions if at < len(edges)]
        own = [edge for edge in given if _branch(edge, maker) in branches]
        return own or given
    if maker.op_type in LOOPS:  # what its body gave for it
        return edges[slot : slot + 1]
    if maker.op_type in SAME_VALUE:
        position = SAME_VALUE[maker.op_type]
        position = slot if position is None else position
        return edges[position : position + 1]
    return edges if maker.op_type in _ALL_INPUTS else ()


def _branch(edge: Edge, conditional: Node) -> str | None:
    """In which branch of `conditional` what flows along `edge` is made."""
    scope, slash, _ = edge.tensor.node.removeprefix(f"{conditional.name}/").partition("/")
    return branch_of_scope(scope) if slash else None
