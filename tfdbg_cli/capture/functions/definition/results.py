"""What a function gives its caller, taken out of what it is packed into.

Keras hands the loss and the metrics of a step over in an Optional, which is one opaque value: they themselves are in
the function, before they are packed, be it in a branch or in the turns of a loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfdbg_cli.capture.functions.definition.call_tree import CallKind, Scope
from tfdbg_cli.model.dtypes import VARIANT
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.kinds import COPIES

_PACKS = "OptionalFromValue"


def results_of(root: Scope) -> tuple[TensorName, ...]:
    """The tensors that the function of `root` gives back, followed to where they are made, each once.

    In the place of an Optional stand the tensors that are put into it; an Optional of which none is found stands for
    itself.
    """
    return tuple(dict.fromkeys(name for names in values_returned(root) for name in names))


def values_returned(root: Scope) -> tuple[tuple[TensorName, ...], ...]:
    """The same tensors for each value that is given back, in order: several where it is an Optional."""
    return tuple(
        tuple(_packed(root, reference, set())) or (root.resolve(reference),) for reference in root.body.returns
    )


def _packed(scope: Scope, reference: str, met: set[tuple[int, str]]) -> Iterator[TensorName]:
    """The tensors that are put into the value that `reference` means in `scope`; none for any other value."""
    if scope.body.type_of(reference) != VARIANT or (id(scope), reference) in met:
        return
    met.add((id(scope), reference))
    source = scope.body.source(reference)
    if source.node is None:
        given = scope.given_at(source.slot)
        if given is not None:
            yield from _packed(*given, met)
            if scope.call is not None and scope.call.kind is CallKind.LOOP:  # of the turn before
                yield from _packed(scope.call.scopes[1], scope.call.scopes[1].body.returns[source.slot], met)
        return
    node, site = scope.body.nodes[source.node], scope.calls.get(source.node)
    inputs = scope.body.data_inputs(node)
    if site is not None:
        for inner in site.scopes[1:] if site.kind is CallKind.LOOP else site.scopes:
            yield from _packed(inner, inner.body.returns[source.slot], met)
        if site.kind is CallKind.LOOP:  # a loop that makes no turn gives what it was given
            yield from _packed(scope, inputs[source.slot], met)
    elif node.op == _PACKS:
        for text in inputs:
            if scope.body.type_of(text) == VARIANT:
                yield from _packed(scope, text, met)
            else:
                yield scope.resolve(text)
    elif node.op in COPIES:
        yield from _packed(scope, inputs[0], met)
