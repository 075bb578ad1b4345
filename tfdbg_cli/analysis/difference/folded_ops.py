"""Which ops TensorFlow's optimizer folded into constants, as far as the graph that ran shows it."""

from __future__ import annotations

from collections.abc import Iterable, Set

from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.walks import needs_first
from tfdbg_cli.ops.effects import effect_known, follows
from tfdbg_cli.ops.kinds import CALLS, CONTROL_FLOW, INPUTS, LITERALS, OF_SHAPES, VARIABLES

_NEVER_CONSTANT = CALLS | CONTROL_FLOW | INPUTS | VARIABLES


def folded_ops(written: Graph, ran: Graph) -> frozenset[str]:
    """The names of the ops of `written` that are not in `ran`, since the optimizer computed them before the run.

    Such an op is computed of constants alone, or of a shape, and where it was read a constant is read now. A constant
    is one of them where an op that reads it is: where an equal one is read in its place, it was not folded.
    """
    order = list(needs_first(written.names(), lambda name: _read_by(written.find(name))))
    constant = _constants(written, order)
    found: set[str] = set()
    for name in reversed(order):  # readers first
        if name in constant and name not in ran and _became_constant(name, written, ran, found):
            found.add(name)
    return frozenset(found)


def _read_by(node: Node | None) -> Iterable[str]:
    return () if node is None else (tensor.node for tensor in node.inputs)


def _constants(graph: Graph, order: Iterable[str]) -> Set[str]:
    """The ops of `graph`, makers first in `order`, whose outputs can be known before a run."""
    found: set[str] = set()
    for name in order:
        node = graph.find(name)
        if node is None or node.op_type in _NEVER_CONSTANT:
            continue
        if effect_known(node.op_type) is not None and not follows(node.op_type):
            continue
        of_constants = bool(node.inputs) and all(read.node in found for read in node.inputs)
        if of_constants or node.op_type in LITERALS or node.op_type in OF_SHAPES:
            found.add(name)
    return found


def _became_constant(name: str, written: Graph, ran: Graph, folded: Set[str]) -> bool:
    """Whether an op that read `name` was folded itself, or reads a constant in its place."""
    is_constant = written.node(name).op_type in LITERALS
    for reader, _ in written.consumers(name):
        now = ran.find(reader.name)
        if now is None:
            if reader.name in folded:
                return True
        elif now.op_type in LITERALS or (not is_constant and _reads_new_constant(reader, now, ran)):
            return True
    return False


def _reads_new_constant(reader: Node, now: Node, ran: Graph) -> bool:
    """Whether what became of `reader` reads a constant that it did not read as it was written."""
    before = set(_read_by(reader))
    return any(
        name not in before and (read := ran.find(name)) is not None and read.op_type in LITERALS
        for name in _read_by(now)
    )
