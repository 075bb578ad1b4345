"""The model of a graph function with all that it calls, edges across calls, and where its nodes were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tfdbg_cli.capture.functions.definition.call_tree import ARGUMENT, LOOP_VARIABLE, CallKind, CallSite, Scope
from tfdbg_cli.capture.functions.scopes import named_graphs_below, scope_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.tracebacks import TracebacksInside
from tfdbg_cli.capture.tf.types import AtomicFunction, ConcreteFunction, NodeDef, TfGraph
from tfdbg_cli.formats.messages.attribute_text import AttributeTexts
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.sources import Traceback

_LOADER = "/tensorflow/python/framework/function_def_to_graph.py"


def function_graph(concrete: ConcreteFunction) -> Graph:
    """The graph of `concrete` (a ConcreteFunction) and what it calls, its nodes named as the tensors of its runs.

    What reads an argument of a called function reads what the caller gave; what reads the output of a plain call
    reads the value inside. A branch node reads what its branches give, a loop node what its body gives. The variables
    of a loop are nodes: each reads the value at the start and the one of the turn before.

    Raises:
        TfdbgError: the runtime does not know the function by its definition.

    """
    return Graph(nodes_of(scope_of(concrete)), GraphKind.PYTHON)


def function_tracebacks(concrete: ConcreteFunction) -> Mapping[str, Traceback]:
    """Where the nodes of `function_graph(concrete)` were made.

    Raises:
        TfdbgError: the runtime does not know the function by its definition.

    """
    atomic, root = compat.atomic_of(concrete), scope_of(concrete)
    return TracebacksInside(lambda: _places(atomic, root))


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


def _places(atomic: AtomicFunction, root: Scope) -> dict[str, tuple[TfGraph, str]]:
    """The graphs in which the program made the nodes below `root`, and their names there, by the names in runs.

    A function that was loaded from a SavedModel has none.
    """
    graphs = _built_graphs(atomic)
    own = graphs.get(root.body.name)
    placeholders = () if own is None else (tensor.op.name for tensor in own.inputs)
    places = {name: (own, node) for name, node in zip(root.argument_names, placeholders, strict=False)}
    for scope in root.all():
        graph = graphs.get(scope.body.name)
        if graph is not None:
            places |= {scope.name_of(node): (graph, scope.body.python_name(node)) for node in scope.body.nodes}
    return places


def _built_graphs(atomic: AtomicFunction) -> dict[str, TfGraph]:
    """The FuncGraphs from which `atomic` and the functions below it were made by the program, by function."""
    return {name: graph for name, graph in named_graphs_below(atomic).items() if not _was_loaded(graph)}


def _was_loaded(graph: TfGraph) -> bool:
    """Whether `graph` was made from a FunctionDef: its nodes then bear no line, or that of the program's loading."""
    operations = graph.get_operations()
    frames = (operations[-1].traceback if operations else None) or ()
    return not frames or any(frame.filename.replace("\\", "/").endswith(_LOADER) for frame in frames)
