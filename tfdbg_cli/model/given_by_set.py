"""Values that `set` gave a program that ran eagerly: nodes that tfdbg adds to the run, of the type `GIVEN_BY_SET`.

They have no inputs: what a value is that a user wrote does not follow from anything in the run. In place of what an
op gave the ops that came behind read such a node, and that of the op is as it was. Where a variable was assigned the
value, an AssignVariableOp reads the node, as it does of the program's own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tfdbg_cli.model.graph import GIVEN_BY_SET, Graph, Node
from tfdbg_cli.model.names import TensorName

_OF = "in_place_of"


def attributes_in_place_of(replaced: TensorName) -> tuple[str, str]:
    """The attributes, names and values in turn, of the node whose value the program got in place of `replaced`."""
    return _OF, str(replaced)


def replaced_by(node: Node) -> str:
    """The name of the tensor in whose place the program got the value of `node`; empty if that is no such node."""
    return node.attributes.get(_OF, "") if node.op_type == GIVEN_BY_SET else ""


def assigned_to(graph: Graph, node: Node) -> str:
    """The name of the variable of `graph` that `set` assigned the value of `node`; empty if that is no such node."""
    if node.op_type != GIVEN_BY_SET or _OF in node.attributes:
        return ""
    return next((reader.inputs[0].node for reader, _ in graph.consumers(node.name) if reader.inputs), "")


def given_in_place_of(graph: Graph, names: Collection[TensorName]) -> Iterator[tuple[TensorName, TensorName]]:
    """Of those tensors `names` that were replaced: each, and the name of what the program was given."""
    if not names or all(op_type != GIVEN_BY_SET for _, op_type in graph.op_types()):
        return
    known = {str(name): name for name in names}
    for node in graph:
        if replaced_by(node) in known:
            yield known[replaced_by(node)], TensorName(node.name, 0)
