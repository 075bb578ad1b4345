"""Of a value that no known line of the program made: the op that was given it first, whose line is known."""

from __future__ import annotations

from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import UPDATED_VARIABLE, updated_variable
from tfdbg_cli.ops.kinds import CALLS


def first_reader(run: Run, node: Node | None) -> Node | None:
    """The first reader of `node` whose line is known, for a `node` whose own line is not; otherwise None.

    Such are the tensors that TensorFlow makes of lists and arrays that eager code passes to an op.
    """
    if node is None or made_at(run.tracebacks, node.name) is not None:
        return None
    return reader_of(run, node)


def reader_of(run: Run, node: Node) -> Node | None:
    """The first op whose line is known that computes with what `node` gives, if any.

    The graph of a run shows what a called function, a branch or a loop does as well: an op in there tells more than
    the call that hands the value on to it, and one that ran more than one of a branch that was not taken.
    """
    readers = [reader for reader, _ in run.graph.consumers(node.name) if reader.op_type != UPDATED_VARIABLE]
    known = [reader for reader in readers if made_at(run.tracebacks, reader.name) is not None]
    inside = [reader for reader in known if reader.op_type not in CALLS]
    ran = (reader for reader in inside if run.tensors.named(reader.name))
    return next(ran, None) or next(iter(inside or known), None)


def updated_by(graph: Graph, update: Node) -> str:
    """The name of the variable that the op `update` writes."""
    shown = (node.name for node in graph.control_consumers(update.name) if node.op_type == UPDATED_VARIABLE)
    return updated_variable(next(shown, update.inputs[0].node))
