"""Scopes of layers by the names that the program gave the layers.

Keras 3 numbers name scopes anew whenever a function is traced: the ops of its layer `dense` stand under `dense_1`,
those of its layer `dense_1` under `dense_1_2`. The variables keep the names of the layers: what reads
`sequential/dense/kernel` belongs to the layer `sequential/dense`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.nodes.roles import GRADIENT_SCOPE
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import without_number
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.ops.kinds import INPUTS

Scope = tuple[str, ...]

_READS = frozenset({"ReadVariableOp", "ResourceGather"})
_VARIABLES = INPUTS | {"VarHandleOp", UPDATED_VARIABLE}  # what stands under the name of a variable


@dataclass(frozen=True, slots=True)
class LayerNames:
    """`called` has the names of scopes that are called otherwise than their layers, `owners` the layers of scopes.

    A layer that is called several times has a scope for each call: these keep their names, which tell them apart.
    """

    called: Mapping[Scope, Scope]
    owners: Mapping[Scope, Scope]


def layer_names(graph: Graph, scopes: Mapping[str, Scope]) -> LayerNames:
    """The names of layers among `scopes` (by node), as the variables tell them that are read there.

    Variables that were made when a model was called first have names without those of the layers. In such a model,
    and for layers without variables, what Keras does is undone: in a model with a number each layer has one more.
    """
    owners: dict[Scope, set[Scope]] = defaultdict(set)
    computing: set[Scope] = set()
    models: set[Scope] = set()
    for node in graph:
        scope = scopes.get(node.name, ())
        if node.op_type in _READS and node.inputs:
            if scope and not any(map(GRADIENT_SCOPE.match, node.name.split("/"))):
                owner = tuple(node.inputs[0].node.split("/")[:-1])
                at = next(
                    (end for end in (len(scope), len(scope) - 1) if is_numbered(scope[:end], owner)), len(scope)
                )
                owners[scope[:at]].add(owner)
                numbered = (at for at, part in enumerate(scope, 1) if without_number(part) != part)
                models.update(scope[:at] for at in numbered if without_number(scope[at - 1]) == (owner or ("",))[0])
        elif node.op_type not in _VARIABLES:
            computing.update(scope[:end] for end in range(1, len(scope) + 1))
    known = {scope: next(iter(of)) for scope, of in owners.items() if len(of) == 1}
    known = {scope: owner for scope, owner in known.items() if is_numbered(scope, owner)}
    wanted: dict[Scope, set[Scope]] = defaultdict(set)
    for scope, owner in known.items():
        named = (*scope[: len(scope) - len(owner)], *owner)
        for end in range(len(scope) - len(owner) + 1, len(scope) + 1):
            wanted[scope[:end]].add(named[:end])
    found = {scope: next(iter(of)) for scope, of in wanted.items() if len(of) == 1}
    found |= {one: (*one[:-1], without_number(one[-1])) for one in models if one not in found}
    models |= {scope[:-1] for scope, name in found.items() if scope != name}
    for scope in sorted(computing, key=len):
        if scope not in found and scope[:-1] in models and without_number(scope[-1]) != scope[-1]:
            found[scope] = (*called(scope[:-1], found), without_number(scope[-1]))
            models.add(scope)
    taken = Counter(found.get(scope, scope) for scope in computing)
    return LayerNames({one: name for one, name in found.items() if one != name and taken[name] == 1}, known)


def is_numbered(scope: Scope, owner: Scope) -> bool:
    """Whether `scope` ends as `owner` does, but for numbers behind the parts."""
    parts = zip(reversed(scope), reversed(owner), strict=False)
    return 0 < len(owner) <= len(scope) and all(part == own or without_number(part) == own for part, own in parts)


def called(scope: Scope, names: Mapping[Scope, Scope]) -> Scope:
    """`scope` with the part of it that has a name among `names` called so."""
    for end in range(len(scope), 0, -1):
        name = names.get(scope[:end])
        if name is not None:
            return (*name, *scope[end:])
    return scope
