"""Outputs in a function that mean nothing: they hold what the memory happened to hold (`undefined_outputs`)."""

from __future__ import annotations

from tfdbg_cli.capture.functions.definition.body import attribute_of
from tfdbg_cli.capture.functions.definition.call_tree import CallKind, Scope
from tfdbg_cli.capture.functions.definition.mergeable import SAME
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.ops.undefined_outputs import is_undefined


def may_be_undefined(scope: Scope, node: NodeDef, slot: int) -> bool:
    """Whether output `slot` of a node of `scope` means nothing, or does so when one of its branches is taken.

    A branch that is differentiated also returns what only the other branches compute for their gradients: that comes
    from a FakeParam op, and means nothing.
    """
    site = scope.calls.get(node.name)
    if site is not None:
        inside = site.scopes if site.kind is not CallKind.LOOP else ()
        return any(gives_undefined(inner, slot) for inner in inside)
    if node.op not in SAME:
        return is_undefined(node.op, slot, lambda name: attribute_of(node, name))
    return _is_undefined(scope, scope.body.data_inputs(node)[slot])


def gives_undefined(scope: Scope, position: int) -> bool:
    """Whether what the function of `scope` gives at `position` means nothing, or may."""
    return _is_undefined(scope, scope.body.returns[position])


def _is_undefined(scope: Scope, reference: str) -> bool:
    source = scope.body.source(reference)
    return source.node is not None and may_be_undefined(scope, scope.body.nodes[source.node], source.slot)
