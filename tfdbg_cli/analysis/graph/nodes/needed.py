"""Whether a run needed a node at all: what its fetches depend on in the program's graph."""

from __future__ import annotations

from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import Graph, GraphKind
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import names_text
from tfdbg_cli.model.walks import reached


def program_graph(run: Run) -> Graph | None:
    """The graph of `run` as the program built it, if it is known."""
    return run.graph if run.graph.kind is GraphKind.PYTHON else run.python_graph


def was_needed(run: Run, node: str) -> bool | None:
    """Whether a fetch of `run` depends on `node`, along data and control edges.

    None where that cannot be told: no program's graph holds the node, the fetches are unknown, or the run is that of
    a function, whose side effects are computed whether they are fetched or not.
    """
    graph = program_graph(run)
    if graph is None or node not in graph or run.call.kind is not RunKind.SESSION:
        return None
    found = needed_nodes(graph, run.call)
    return None if found is None else node in found


def needed_nodes(graph: Graph, call: Call) -> frozenset[str] | None:
    """The nodes of a program's graph that the fetches of `call` depend on; None when the graph lacks one of them."""
    fetched = [node_of(name) for name in (*call.fetches, *call.targets)]
    if not fetched or any(name not in graph for name in fetched):
        return None
    fed = {node_of(name) for name in call.feeds}

    def needs(name: str) -> list[str]:
        makers = () if name in fed else graph.all_named(name)  # what a fed tensor was made from is not computed
        return [other for maker in makers for other in maker.needs]

    return frozenset(reached(fetched, needs))


def not_needed_text(run: Run) -> str:
    """`none of its fetches (init) depends on it`, for a node that `was_needed` denies."""
    names = [*run.call.fetches, *run.call.targets]
    return f"none of its fetches ({names_text(names)}) depends on it"
