"""The graphs and scopes of a function, of those that it calls, and of the one whose gradient it is, found once."""

from __future__ import annotations

from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.graph.forward_function import ForwardFunction, argument_names, forward_function
from tfdbg_cli.capture.functions.graph.function_tree import grown
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import AtomicFunction, ConcreteFunction, TfGraph
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.walks import depth_first


def scope_of(concrete: ConcreteFunction) -> Scope:
    """The calls below `concrete` (a ConcreteFunction), with the names of nodes in its runs; kept with its function.

    Raises:
        TfdbgError: the runtime does not know the function by its definition.

    """
    return _SCOPES.of(compat.atomic_of(concrete))


def forward_of(atomic: AtomicFunction) -> ForwardFunction | None:
    """The forward function of `atomic`, if that is a gradient; kept with it."""
    return _FORWARDS.of(atomic)


def _grown(atomic: AtomicFunction) -> Scope:
    try:
        graph = compat.built_graph_of(atomic)
        names = () if graph is None else argument_names(graph, forward_of(atomic))
        return grown(atomic.name.decode(), named_graphs_below(atomic), names)
    except LookupError as error:
        raise TfdbgError(
            f"TensorFlow does not give the definition of the function {error.args[0]!r}.",
            hint="Debug a function that calls it.",
        ) from error


def _forward(atomic: AtomicFunction) -> ForwardFunction | None:
    graph = compat.built_graph_of(atomic)
    return None if graph is None else forward_function(atomic.name.decode(), graph)


_SCOPES = Memo(_grown)
_FORWARDS = Memo(_forward)


def named_graphs_below(atomic: AtomicFunction) -> dict[str, TfGraph]:
    """The FuncGraphs of `atomic` and of the functions that it calls, by their names, as far as they are kept."""
    found: dict[str, TfGraph] = {}
    for function in depth_first([atomic], compat.called_by):
        graph = compat.built_graph_of(function)
        if graph is not None:
            found.setdefault(function.name.decode(), graph)
    return found
