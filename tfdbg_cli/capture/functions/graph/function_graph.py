"""The model of a graph function with all that it calls, edges across calls, and where its nodes were made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tfdbg_cli.analysis.graph.making.forward import named_forward
from tfdbg_cli.capture.functions.definition.call_tree import ARGUMENT, CallKind, CallSite, Scope
from tfdbg_cli.capture.functions.graph.forward_function import ForwardFunction
from tfdbg_cli.capture.functions.graph.scopes import forward_of, named_graphs_below, scope_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.tracebacks import TracebacksInside
from tfdbg_cli.capture.tf.types import AtomicFunction, ConcreteFunction, NodeDef, TfGraph
from tfdbg_cli.formats.messages.attribute_text import AttributeTexts
from tfdbg_cli.model.graph import LOOP_VARIABLE, Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.sources import Traceback

_COPY = "Identity"  # what a further output of a forward function's op is in the run of a gradient
_LOADER = "/tensorflow/python/framework/function_def_to_graph.py"


def function_graph(concrete: ConcreteFunction) -> Graph:
    """The graph of `concrete` (a ConcreteFunction) and what it calls, its nodes named as the tensors of its runs.

    What reads an argument of a called function reads what the caller gave; what reads the output of a plain call
    reads the value inside. A branch node reads what its branches give, a loop node what its body gives. The variables
    of a loop are nodes: each reads the value at the start and the one of the turn before. The graph of a gradient has
    the nodes of its forward function, too, under a scope of their own; what that handed over is what made it there.

    Raises:
        TfdbgError: the runtime does not know the function by its definition.

    """
    root, forward = scope_of(concrete), forward_of(compat.atomic_of(concrete))
    return Graph(nodes_of(root) if forward is None else _of_gradient(root, forward), GraphKind.PYTHON)


def function_tracebacks(
    concrete: ConcreteFunction, graph: Callable[[], Graph] | None = None
) -> Mapping[str, Traceback]:
    """Where the nodes of `function_graph(concrete)` were made; `graph` gives that one where it is at hand.

    The ops of a gradient function are all made at the first call of the forward function under a tape. Where it is
    known of which op one computes the gradient, it is said to be made where that op was.

    Raises:
        TfdbgError: the runtime does not know the function by its definition.

    """
    atomic, root = compat.atomic_of(concrete), scope_of(concrete)
    shown = graph or (lambda: function_graph(concrete))
    return TracebacksInside(lambda: _all_places(atomic, root, shown))


def nodes_of(root: Scope) -> Iterator[Node]:
    """The nodes of the function of `root` and of all that it calls, its arguments first."""
    for name in root.argument_names:
        yield Node(name, ARGUMENT, "")
    for scope in root.all():
        yield from _loop_variables(scope)
        for node in scope.body.nodes.values():
            yield Node(
                scope.name_of(node.name),
                node.op,
                node.device,
                _inputs(scope, node),
                tuple(scope.name_of(text[1:]) for text in node.input if text.startswith("^")),
                AttributeTexts(node),
            )


def _of_gradient(root: Scope, forward: ForwardFunction) -> Iterator[Node]:
    """The nodes of the gradient function of `root`, those of `forward` before them, with a node that calls it."""
    yield from _of_forward(forward)
    yield Node(forward.caller, "PartitionedCall", "", attributes={"f": forward.root.body.name})
    for node in nodes_of(root):
        made = forward.handed.get(node.name)
        if made is None:
            yield node
        elif made != TensorName(node.name, 0):
            yield Node(node.name, _COPY, "", (made,))


def _of_forward(forward: ForwardFunction) -> Iterator[Node]:
    before = forward.forward
    nodes = nodes_of(forward.root) if before is None else _of_gradient(forward.root, before)
    return (node.within(forward.scope) for node in nodes)


def _inputs(scope: Scope, node: NodeDef) -> tuple[TensorName, ...]:
    given = scope.body.data_inputs(node)
    site = scope.calls.get(node.name)
    if site is None or site.kind is CallKind.PLAIN:
        return tuple(map(scope.resolve, given))
    decisive = [scope.resolve(given[0])] if site.kind is CallKind.BRANCH else []
    return tuple(dict.fromkeys([*decisive, *_given_back(site), *map(scope.resolve, given)]))


def _given_back(site: CallSite) -> Iterator[TensorName]:
    """What the functions of `site` give to its outputs; of the cond of a loop nothing is."""
    for scope in site.scopes if site.kind is CallKind.BRANCH else site.scopes[1:]:
        yield from map(scope.resolve, scope.body.returns)


def _loop_variables(scope: Scope) -> Iterator[Node]:
    for position, name in scope.loop_variables.items():
        given = scope.given_at(position)
        if given is not None:
            caller, start = given
            inputs = caller.resolve(start), scope.resolve(scope.body.returns[position])
            yield Node(name.node, LOOP_VARIABLE, "", inputs)


def _all_places(atomic: AtomicFunction, root: Scope, shown: Callable[[], Graph]) -> dict[str, tuple[TfGraph, str]]:
    """The graphs in which the program made the nodes of `shown`, and their names there."""
    places, forward = _places(root, named_graphs_below(atomic)), forward_of(atomic)
    if forward is None:
        return places
    places |= _forward_places(forward)
    graph = shown()
    of = {node.name: named_forward(graph, node) for node in graph if node.name in places and "gradient" in node.name}
    return places | {name: places[op.name] for name, op in of.items() if op is not None and op.name in places}


def _forward_places(forward: ForwardFunction) -> dict[str, tuple[TfGraph, str]]:
    """The same of the nodes of `forward`, and of what it handed over."""
    found = _places(forward.root, forward.graphs)
    found |= {} if forward.forward is None else _forward_places(forward.forward)
    places = {f"{forward.scope}/{name}": place for name, place in found.items()}
    made = {name: places[tensor.node] for name, tensor in forward.handed.items() if tensor.node in places}
    return places | made


def _places(root: Scope, made: Mapping[str, TfGraph]) -> dict[str, tuple[TfGraph, str]]:
    """The graphs in which the program made the nodes below `root`, and their names there, by the names in runs.

    `made` are the FuncGraphs of `root` and of what it calls, by function. One that was loaded from a SavedModel tells
    of no place.
    """
    graphs = {name: graph for name, graph in made.items() if not _was_loaded(graph)}
    own = graphs.get(root.body.name)
    placeholders = () if own is None else (tensor.op.name for tensor in own.inputs)
    places = {name: (own, node) for name, node in zip(root.argument_names, placeholders, strict=False)}
    for scope in root.all():
        graph = graphs.get(scope.body.name)
        if graph is not None:
            places |= {scope.name_of(node): (graph, name) for node, name in _made_as(scope, graph).items()}
    return places


def _made_as(scope: Scope, graph: TfGraph) -> dict[str, str]:
    """By the nodes of the function of `scope`, the names of the ops of `graph` that they were made of, in one order.

    Most have one name in both. Where a result is called as an op is (`split_1` the second output of `split`), the
    definition has other names for ops: `split_1` is `split` then, and `split_1` is `split_1_0`. Where they are not
    the same ops one by one, names alone tell.
    """
    given = {tensor.op.name for tensor in graph.inputs}
    ops = [op for op in graph.get_operations() if op.name not in given]
    nodes = scope.body.nodes
    if [node.op for node in nodes.values()] == [op.type for op in ops]:
        return {node: op.name for node, op in zip(nodes, ops, strict=True)}
    known = {op.name for op in ops} | given
    names = {node: scope.body.python_name(node) for node in nodes}
    return {node: name for node, name in names.items() if name in known}


def _was_loaded(graph: TfGraph) -> bool:
    """Whether `graph` was made from a FunctionDef: its nodes then bear no line, or that of the program's loading."""
    operations = graph.get_operations()
    frames = (operations[-1].traceback if operations else None) or ()
    return not frames or any(frame.filename.replace("\\", "/").endswith(_LOADER) for frame in frames)
