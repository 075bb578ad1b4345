"""Which values of a function are shown, in order, and how the function itself refers to them."""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_cli.capture.function.body import Output
from tfdbg_cli.capture.function.call_tree import LOOP_VARIABLE, CallKind, CallSite, Scope
from tfdbg_cli.model.names import TensorName


@dataclass(frozen=True, slots=True)
class Shown:
    """One value: its name in the run, and what is known of it without running. `device` is the one asked for."""

    name: TensorName
    op_type: str
    device: str
    dtype: int


@dataclass(frozen=True, slots=True)
class Item:
    """One value of a function in order of execution, or the place of a branch or loop between them.

    `reference` is how the function refers to the value; None for a value that is only listed (a handle).
    """

    shown: Shown | None
    reference: str | None
    site: CallSite | None = None


def items_of(scope: Scope) -> tuple[Item, ...]:
    """The values of `scope` and of the plain calls in it, in order of execution. Found once."""
    if scope.items is None:
        scope.items = tuple(_found(scope))
    return scope.items


def _found(scope: Scope) -> list[Item]:
    items = [
        _item(name, LOOP_VARIABLE, "", Output(scope.body.arguments[position], scope.body.argument_types[position]))
        for position, name in scope.loop_variables.items()
    ]
    for node in scope.needed.nodes:
        if node.name in scope.needed.hidden:
            continue
        site = scope.calls.get(node.name)
        if site is not None and site.kind is CallKind.PLAIN:
            items.extend(_of_call(site, len(site.scopes[0].body.returns)))
            continue
        if site is not None:
            items.append(Item(None, None, site))
        read = scope.needed.slots[node.name]
        for slot, output in enumerate(scope.body.outputs(node.name)):
            if site is None or site.kind is CallKind.LOOP or slot in read:
                items.append(_item(TensorName(scope.name_of(node.name), slot), node.op, node.device, output))
    return items


def _item(name: TensorName, op_type: str, device: str, output: Output) -> Item:
    shown = Shown(name, op_type, device, output.dtype)
    return Item(shown, output.reference if output.returnable else None)


def _of_call(site: CallSite, own_outputs: int) -> list[Item]:
    """The values inside a plain call, which gives each back behind its own outputs."""
    items = []
    position = own_outputs
    for item in items_of(site.scopes[0]):
        reference = None
        if item.reference is not None:
            reference = f"{site.node.name}:output:{position}"
            position += 1
        items.append(Item(item.shown, reference, item.site))
    return items


def hidden_in(scope: Scope) -> int:
    """How many nodes of `scope` and below are in loops and branches of version 1, whose values are not shown."""
    return sum(len(inner.needed.hidden) for inner in scope.all())
