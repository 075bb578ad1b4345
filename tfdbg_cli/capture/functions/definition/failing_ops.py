"""The nodes of a function that an error may mean: TensorFlow names the op that failed, but not the call it was in."""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.flat import FlatFunction, FlatNode
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.names import TensorName


@dataclass(frozen=True)
class FailingOp:
    """A node that may be the one that failed, in the function of `scope`."""

    scope: Scope
    node: NodeDef

    @property
    def name(self) -> str:
        """The name of the node in the run."""
        return self.scope.name_of(self.node.name)

    @property
    def given(self) -> tuple[TensorName, ...]:
        """The tensors that it reads, as far as they hold numbers."""
        body = self.scope.body
        given = [text for text in body.data_inputs(self.node) if element_type(body.type_of(text)).numpy is not None]
        return tuple(map(self.scope.resolve, given))

    def place_in(self, flat: FlatFunction) -> FlatNode:
        """The node of the flat function that it is, or that of the branch, loop or compiled call around it."""
        name, scope = self.name, self.scope
        while name not in flat.nodes and scope.call is not None and scope.parent is not None:
            name, scope = scope.parent.name_of(scope.call.node.name), scope.parent
        return flat.nodes[name]


def failing_ops(root: Scope, name: str) -> list[FailingOp]:
    """The nodes below `root` that an error can mean by `name`.

    TensorFlow names the node as its own function does, sometimes with the path of the calls that it was inlined into.
    """
    found: list[tuple[int, FailingOp]] = []
    for scope in root.all():
        for node in scope.body.nodes.values():
            if scope.name_of(node.name) == name:
                return [FailingOp(scope, node)]
            if node.name == name or name.endswith(f"/{node.name}"):
                found.append((len(node.name), FailingOp(scope, node)))
    longest = max((length for length, _ in found), default=0)
    return [op for length, op in found if length == longest]
