"""Scopes of layers by the names that the program gave the layers.

Keras 3 numbers name scopes anew whenever a function is traced: the ops of its layer `dense` stand under `dense_1`,
those of its layer `dense_1` under `dense_1_2`. The variables keep the names of the layers: what reads
`sequential/dense/kernel` belongs to the layer `sequential/dense`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from tfdbg_cli.analysis.graph.roles import GRADIENT_SCOPE
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.ops.kinds import INPUTS

Scope = tuple[str, ...]

_READS = frozenset({"ReadVariableOp", "ResourceGather"})
_VARIABLES = INPUTS | {"VarHandleOp", UPDATED_VARIABLE}  # what stands under the name of a variable
_NUMBER = re.compile(r"_\d+$")


def names_by_variables(graph: Graph, scopes: Mapping[str, Scope]) -> Mapping[Scope, Scope]:
    """The names of those of the `scopes` (by node) that are called otherwise than the layers of their variables.

    A layer that is called several times has a scope for each call: these keep their names, which tell them apart.
    """
    owners: defaultdict[Scope, set[Scope]] = defaultdict(set)
    computing: set[Scope] = set()
    for node in graph:
        scope = scopes.get(node.name, ())
        if node.op_type in _READS and node.inputs:
            if scope and not any(map(GRADIENT_SCOPE.match, node.name.split("/"))):
                owners[scope].add(tuple(node.inputs[0].node.split("/")[:-1]))
        elif node.op_type not in _VARIABLES:
            computing.update(scope[:end] for end in range(1, len(scope) + 1))
    wanted: defaultdict[Scope, set[Scope]] = defaultdict(set)
    for scope, of in owners.items():
        owner = next(iter(of)) if len(of) == 1 else ()
        if _is_numbered(scope, owner):
            named = (*scope[: len(scope) - len(owner)], *owner)
            for end in range(len(scope) - len(owner) + 1, len(scope) + 1):
                wanted[scope[:end]].add(named[:end])
    names = {scope: next(iter(of)) for scope, of in wanted.items() if len(of) == 1}
    taken = Counter(names.get(scope, scope) for scope in computing)
    return {scope: name for scope, name in names.items() if scope != name and taken[name] == 1}


def _is_numbered(scope: Scope, owner: Scope) -> bool:
    """Whether `scope` ends as `owner` does, but for numbers behind the parts."""
    parts = zip(reversed(scope), reversed(owner), strict=False)
    return 0 < len(owner) <= len(scope) and all(part == own or _NUMBER.sub("", part) == own for part, own in parts)


def called(scope: Scope, names: Mapping[Scope, Scope]) -> Scope:
    """`scope` with the part of it that has a name among `names` called so."""
    for end in range(len(scope), 0, -1):
        name = names.get(scope[:end])
        if name is not None:
            return (*name, *scope[end:])
    return scope
