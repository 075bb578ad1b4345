"""Handles that a call gives back as it was given them: by these a gradient reads the variables of a function."""

from __future__ import annotations

from tfdbg_cli.capture.functions.definition.call_tree import CallKind, CallSite, Scope
from tfdbg_cli.capture.sessions.wrapped_call import GraphFunctions, called_root
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor
from tfdbg_cli.errors import TfdbgError

_Positions = dict[tuple[str, int], int | None]


def given_back(tensor: SymbolicTensor) -> SymbolicTensor | None:
    """The input of the op that gives `tensor` which it is, where that op calls functions; None where it is none."""
    op: Op = tensor.op
    known, key = _KNOWN.of(op.graph), (op.name, tensor.value_index)
    if key not in known:
        known[key] = _position(op, tensor.value_index)
    position = known[key]
    return None if position is None else op.inputs[position]


def _position(op: Op, slot: int) -> int | None:
    try:
        root = called_root(op, GraphFunctions(op.graph, as_written=True))
    except TfdbgError:  # nobody knows what it calls
        return None
    site = next(iter(root.calls.values()), None)
    return None if site is None else handed_on(site, slot)


def handed_on(site: CallSite, slot: int) -> int | None:
    """The position of the input of the call at `site` that its output `slot` is, whatever runs in it; or None."""
    if site.kind is CallKind.LOOP:
        return slot if _argument(site.scopes[1], slot) == slot else None
    (position, *others) = {_argument(scope, slot) for scope in site.scopes}
    if others or position is None:
        return None
    return position + (site.kind is CallKind.BRANCH)  # the first input of a branch decides which one runs


def _argument(scope: Scope, slot: int) -> int | None:
    """The position of the argument of `scope` that its result at `slot` is."""
    source = scope.body.source(scope.body.returns[slot])
    while source.node is not None:
        node, site = scope.body.nodes[source.node], scope.calls.get(source.node)
        position = 0 if node.op == "Identity" else None if site is None else handed_on(site, source.slot)
        if position is None:
            return None
        source = scope.body.source(scope.body.data_inputs(node)[position])
    return source.slot


_KNOWN: Memo[_Positions] = Memo(lambda graph: {})
