"""Which of a function's own reads come before its updates: they give the variables' values from before the run."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from tfdbg_cli.capture.functions.checking.updated_variables import region_of
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.effects import writes_variable
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.model.names import TensorName, node_of
from tfdbg_cli.ops.effects import leaves_variable

_READ = "ReadVariableOp"


def early_reads(root: Scope, written: Collection[int]) -> dict[int, TensorName]:
    """By the position of a variable's handle among the inputs of `root`, a tensor that reads it before it is changed.

    Only for variables in `written` of which a read and all changes stand in the same function, outside of branches
    and loops, so that edges between them tell which comes first.
    """
    handles = {TensorName(root.argument_names[position], 0): position for position in written}
    reads: dict[int, list[tuple[Scope, NodeDef]]] = {}
    changes: dict[int, list[tuple[Scope, NodeDef]]] = {}
    for scope in root.all():
        for node in scope.needed.nodes:
            # Handles given to a call are looked at where the called function uses them.
            for text in () if node.name in scope.calls else scope.body.handles(node):
                position = handles.get(scope.resolve(text))
                if position is None:
                    if writes_variable(node.op):
                        return {}  # a variable that cannot be told from the others
                elif node.op == _READ and region_of(scope) is root and node.name not in scope.needed.hidden:
                    reads.setdefault(position, []).append((scope, node))
                elif not leaves_variable(node.op):
                    changes.setdefault(position, []).append((scope, node))
    reads_before = cache(_reads_before)

    def comes_first(scope: Scope, read: NodeDef, later: NodeDef) -> bool:
        bits, before = reads_before(scope)
        return bool(before[later.name] & bits[read.name])

    found: dict[int, TensorName] = {}
    for position, places in reads.items():
        for scope, node in places:
            known = changes.get(position, ())  # empty where only what a call is given can change it
            if known and all(where is scope and comes_first(scope, node, other) for where, other in known):
                found[position] = TensorName(scope.name_of(node.name), 0)
                break
    return found


def _reads_before(scope: Scope) -> tuple[dict[str, int], dict[str, int]]:
    """A bit for each read of a variable, by name, and for each node the bits of the reads that come before it."""
    reads = (node.name for node in scope.needed.nodes if node.op == _READ)
    bits = {name: 1 << number for number, name in enumerate(reads)}
    before: dict[str, int] = {}
    for node in scope.needed.nodes:  # inputs come first
        found = 0
        for text in node.input:
            name = node_of(text)
            if text.startswith("^") or ":" in text:
                found |= before.get(name, 0) | bits.get(name, 0)
        before[node.name] = found
    return bits, before
