"""Makes sure that a replay changes what the program's run changed and nothing else, by the ops that ran."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from tfdbg_cli.capture.sessions.call_state import CallState, changes
from tfdbg_cli.capture.sessions.graphs_that_ran import GraphsThatRan
from tfdbg_cli.capture.tf.op_definitions import calls_functions
from tfdbg_cli.capture.tf.types import Op, TfGraph
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.units import names_text


class OtherRunError(TfdbgError):
    """The replay did not do what the program's run did."""


def require_alike(order: Sequence[Op], fed_names: frozenset[str], state: CallState, again: GraphsThatRan) -> None:
    """Make sure that a replay made all updates of the program's run of `order`, and no others.

    Args:
        order: the ops that the program's run needs.
        fed_names: tensors whose ops were not asked.
        state: what the ops use; those in `outside` must not run in the replay.
        again: the graphs of the replay.

    Raises:
        OtherRunError: it left out some or made others, or TensorFlow does not tell.

    """
    outside = {op.name for op in state.outside}
    changing = [op for op in state.touching if op.name not in outside and changes(op, fed_names)]
    if not changing and not outside:
        return
    ran = {node.name: node.op for graph in again.metadata.partition_graphs for node in graph.node}
    if not ran and not changing:  # all that is fetched was drawn, and is fed: nothing ran
        return
    if not ran:
        raise OtherRunError("TensorFlow does not tell which ops ran when the run was made again.")
    missing = [
        op.name for op in changing if op.name not in ran and not (calls_functions(op) and _has_inside(ran, op))
    ]
    if missing:
        raise OtherRunError(f"Made again, the run left out {names_text(missing)}.")
    more = _more(order[0].graph, ran, {op.name for op in order} - outside, fed_names)
    if more:
        raise OtherRunError(f"Made again, the run made {names_text(more)} besides.")


def _has_inside(ran: Iterable[str], op: Op) -> bool:
    """Whether some of the inside of the call `op` ran: TensorFlow may put that in the place of the call."""
    return any(name.startswith(f"{op.name}/") for name in ran)


def _more(graph: TfGraph, ran: Mapping[str, str], expected: Collection[str], fed_names: frozenset[str]) -> list[str]:
    """The names of ops of the program that `ran` and may change something, beside the `expected` ones."""
    found = []
    for name in sorted(set(ran) - set(expected)):
        try:
            op = graph.get_operation_by_name(name)
        except KeyError:  # the optimizer's, or ours
            continue
        if op.type == ran[name] and changes(op, fed_names):
            found.append(name)
    return found
