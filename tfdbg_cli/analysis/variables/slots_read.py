"""Which variables are slots of an optimizer, told by what it computes of them: the update of one other variable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TypeVar

from tfdbg_cli.analysis.graph.nodes.roles import Role, roles_of
from tfdbg_cli.analysis.variables.uses import VariableUse
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.walks import reached

Kind = TypeVar("Kind")

_MOST_NODES = 500  # of one update


def slots_read(graph: Graph, variables: Mapping[str, tuple[Kind, VariableUse]]) -> Mapping[str, str]:
    """By the name of a slot the variable that it belongs to. A slot has the same dtype and shape as that one.

    `variables` are the variables of `graph` by name, each with its dtype and shape, and what uses it. A slot is
    written in the run, and nothing is computed of it but the update of its variable.
    """
    roles = roles_of(graph)
    slots = {
        name: (kind, use)
        for name, (kind, use) in variables.items()
        if use.writers and all(roles.get(reader.name) is Role.UPDATE for reader in use.readers)
    }
    reads = {reader.name: name for name, (_, use) in slots.items() for reader in use.readers}
    if not reads:
        return {}

    def needs(name: str) -> Iterator[str]:
        node = graph.find(name)
        inputs = () if node is None else node.inputs
        return (given.node for given in inputs if roles.get(given.node) is Role.UPDATE)

    owners: dict[str, set[str]] = defaultdict(set)
    for name, (kind, use) in variables.items():
        if name in slots:
            continue
        behind = set(reached([writer.name for writer in use.writers], needs, most=_MOST_NODES))
        for slot in {reads[one] for one in behind if one in reads}:
            if slots[slot][0] == kind:
                owners[slot].add(name)
    return {slot: next(iter(of)) for slot, of in owners.items() if len(of) == 1}
