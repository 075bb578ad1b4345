"""The tensors of a run in an order in which none that was held for a replay comes before what it was made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.model.gathered import PartOfStore
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.walks import needs_first, reached
from tfdbg_cli.ops.kinds import PLAIN_CALLS


def behind_inputs(store: TensorStore, graph: Graph, held: Collection[str]) -> TensorStore:
    """`store` in an order in which the nodes `held` come right behind all that they read.

    What an op drew, or exchanged with others, is given to a run that is made again, and so is there before the
    tensors that the op itself read. All else is in the order of `graph` already, and stays in its order.
    """
    moved = [name for name in held if _comes_early(store, graph, name)]
    if not moved:
        return store
    whole = _wholes(graph)
    parts: dict[str, list[str]] = {}
    for name in graph.names():
        parts.setdefault(whole(name), []).append(name)

    def needs(one: str) -> Iterator[str]:
        for name in parts.get(one, ()):
            yield from (other for need in _needs(graph, name) if (other := whole(need)) != one)

    rows: dict[str, list[int]] = {}
    for row in range(len(store)):
        rows.setdefault(whole(store[row].node), []).append(row)
    places: dict[str, tuple[int, int]] = {}
    for place, one in enumerate(needs_first([*(one for one in rows if one not in moved), *moved], needs)):
        if one not in moved:
            places[one] = place, 0
            continue
        read = reached(needs(one), lambda other: () if other in rows else needs(other))
        places[one] = max((places[need][0] for need in read if need in rows and need in places), default=0), place
    return PartOfStore(store, [row for one in sorted(rows, key=places.__getitem__) for row in rows[one]])


def _needs(graph: Graph, name: str) -> Iterator[str]:
    for node in graph.all_named(name):
        yield from node.needs


def _comes_early(store: TensorStore, graph: Graph, name: str) -> bool:
    """Whether the tensors of `name` stand before one that it was made of."""
    own = store.named(name)
    if not own:
        return False
    # The ops between that show no tensor count as well.
    behind = reached(_needs(graph, name), lambda one: () if store.named(one) else _needs(graph, one))
    return any(row > own[0] for one in behind if one != name for row in store.named(one))


def _wholes(graph: Graph) -> Callable[[str], str]:
    """What tells by a node the loop or branch that it is in, the outermost one, whose tensors stay together."""
    scopes = call_scopes(graph)

    def whole(name: str) -> str:
        for scope in scopes.around(name):
            caller = scopes.caller(scope)
            if any(node.op_type not in PLAIN_CALLS for node in graph.all_named(caller)):
                name = caller
        return name

    return whole
