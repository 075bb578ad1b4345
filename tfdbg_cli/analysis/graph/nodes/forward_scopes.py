"""Which function's ops the gradients in a function are of: `fwd` for those in `backward_fwd`, or in a run of its own.

TensorFlow names a gradient after its op, by the name that this has in its own function. In which one that is is told
by what the gradients of a function read: most of it was made around the ops that they are of.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.model.graph import Graph, once_per_graph
from tfdbg_cli.ops.kinds import BRANCHES, LOOPS, PLAIN_CALLS

_GRADIENTS = re.compile(r"(?:^|(?<=/))(?:gradient_tape|gradients)(?:_\d+)?/")


def named_after(name: str) -> tuple[str, list[str]]:
    """What a gradient's name says: the scope before that of the gradients, and the parts of the name of its op.

    Of tf.gradients the scope is called `Log_grad`; of a tape it has the name of the op alone, so that the last parts
    may be of the gradient itself.
    """
    found = [*_GRADIENTS.finditer(name)]
    parts = name[found[-1].end() if found else 0 :].split("/")[:-1]
    for end, part in enumerate(parts, 1):
        if part.endswith("_grad"):
            parts = [*parts[: end - 1], part.removesuffix("_grad")]
            break
    return name[: found[0].start()] if found else "", parts


def without_scopes(name: str) -> str:
    """`name` without the scopes of gradients in it."""
    return _GRADIENTS.sub("", name)


def shown_as(graph: Graph, prefix: str, parts: Sequence[str]) -> Iterator[str]:
    """The names under which the graph may show the op called so: its own, or that of an op in loops and branches."""
    yield prefix + "/".join(parts)
    for end in range(len(parts) - 1, 0, -1):
        call = graph.find(prefix + "/".join(parts[:end]))
        if call is not None and call.op_type in LOOPS:
            yield from shown_as(graph, f"{call.name}/body/", parts[end:])
        elif call is not None and call.op_type in BRANCHES:
            for branch in ("true", "false"):
                yield from shown_as(graph, f"{call.name}/{branch}/", parts[end:])


def within(scope: str) -> str:
    """What the names of nodes in `scope` begin with."""
    return f"{scope}/" if scope else ""


def forward_scope(graph: Graph, name: str) -> str | None:
    """The scope of the function whose gradients the function computes that the node `name` is in; None if open."""
    return _forward_scopes(graph).get(_function(graph, name))


@once_per_graph
def _forward_scopes(graph: Graph) -> Mapping[str, str]:
    """By the scope of a function with gradients, empty for the run's own, that of the one of whose ops they are."""
    named: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    read: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, node in graph.by_name().items():
        if "gradient" not in name or not _GRADIENTS.search(name):  # few names have that word, and graphs are large
            continue
        function, (_, parts) = _function(graph, name), named_after(name)
        for made in {tensor.node for tensor in node.inputs if not _GRADIENTS.search(tensor.node)}:
            for scope in _around(made):
                read[function][scope] += 1
                named[function][scope].update(one for one in shown_as(graph, within(scope), parts) if one in graph)
    found: dict[str, str] = {}
    for function in sorted(named):  # what is around a function comes before it
        called = _of_called(graph, function, found)
        most = max(named[function], key=lambda one: (len(named[function][one]), read[function][one], len(one)))
        if called is not None or named[function][most]:
            found[function] = most if called is None else called
    return found


def _of_called(graph: Graph, function: str, found: Mapping[str, str]) -> str | None:
    """The scope of the function whose gradients `function` computes, where the call of `function` is named after its.

    `found` has the scopes for the functions around it.
    """
    scopes = call_scopes(graph)
    caller = scopes.caller(function) if function in scopes else ""
    around = found.get(_function(graph, caller)) if _GRADIENTS.search(caller) else None
    if around is None:
        return None
    call = within(around) + "/".join(named_after(caller)[1])
    return next((scope for scope in scopes if scopes.caller(scope) == call), None)


def _function(graph: Graph, name: str) -> str:
    """The scope of the innermost function around the gradient `name`: of a call, or what eager code called."""
    scopes = call_scopes(graph)
    plain = (one for one in scopes.around(name) if graph.node(scopes.caller(one)).op_type in PLAIN_CALLS)
    return max(next(plain, ""), named_after(name)[0].rstrip("/"), key=len)


def _around(name: str) -> Iterator[str]:
    """The scopes around the node `name`, innermost first; the last is empty."""
    while name:
        name = name.rpartition("/")[0]
        yield name
