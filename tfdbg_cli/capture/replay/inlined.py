"""The names that the runtime gives to nodes of called functions, and the names by which a run shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfdbg_cli.capture.functions.definition.call_tree import CallKind, CallSite
from tfdbg_cli.capture.sessions.called import GraphFunctions, called_root
from tfdbg_cli.capture.tf.op_definitions import calls_functions
from tfdbg_cli.capture.tf.types import Op, TfGraph
from tfdbg_cli.errors import TfdbgError


def inlined_names(graph: TfGraph, order: Iterable[Op]) -> dict[str, str]:
    """The names by which a run shows the nodes of called functions, by the names that the runtime gives them.

    The runtime puts the nodes of a function in the place of a plain call of it, under the name of the call. Branches
    and loops it takes apart: their nodes are not among these.
    """
    functions = GraphFunctions(graph, as_written=True)
    found: dict[str, str] = {}
    for op in filter(calls_functions, order):
        try:
            root = called_root(op, functions)
        except TfdbgError:  # nobody knows what it calls
            continue
        for site in root.calls.values():
            found.update(_inside(site, op.name))
    return found


def _inside(site: CallSite, call: str) -> Iterator[tuple[str, str]]:
    if site.kind is not CallKind.PLAIN:
        return
    scope = site.scopes[0]
    for name in scope.body.nodes:
        yield f"{call}/{name}", scope.name_of(name)
    for name, inner in scope.calls.items():
        yield from _inside(inner, f"{call}/{name}")
