"""Which values of a function are shown, in order, and how the function itself refers to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from tfdbg_cli.capture.functions.definition.body import Output, ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import CallKind, CallSite, Scope
from tfdbg_cli.capture.functions.definition.called_functions import named_by
from tfdbg_cli.capture.functions.definition.constants import constant_in
from tfdbg_cli.capture.functions.definition.mergeable import SAME, mergeable
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import EagerTensor, NodeDef
from tfdbg_cli.model.graph import LOOP_VARIABLE
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.kinds import FAKES


@dataclass(frozen=True, slots=True)
class Shown:
    """One value: its name in the run, and what is known of it before. `device` is the one that the program chose."""

    name: TensorName
    op_type: str
    device: str
    dtype: int


@dataclass(frozen=True, slots=True, eq=False)
class ValueRecipe:
    """How a value is computed from others that the run shows: as output 0 of the op of `node`.

    A `node` that only passes its input on has one input here. `shapes` keeps shapes of the output that took long to
    find, by the shapes of the inputs; None where these do not tell it.
    """

    node: NodeDef
    inputs: tuple[TensorName, ...]
    shapes: dict[tuple[tuple[int, ...], ...], tuple[int, ...] | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Item:
    """One value of a function in order of execution, or the place of a branch or loop between them.

    `reference` is how the function refers to the value; None for a value that is only listed (a handle). A value
    with a `recipe` is not given back but computed by it, and one that is `known` before a run is not either.
    """

    shown: Shown | None
    reference: str | None
    site: CallSite | None = None
    recipe: ValueRecipe | None = None
    known: EagerTensor | None = None

    @property
    def given_back(self) -> bool:
        """Whether the function gives the value back, as one of its further outputs."""
        return self.reference is not None and self.recipe is None and self.known is None


def items_of(scope: Scope) -> tuple[Item, ...]:
    """The values of `scope` and of the plain calls in it, in order of execution. Found once."""
    return _ITEMS.of(scope)


def _found(scope: Scope) -> tuple[Item, ...]:
    items = [
        _item(name, LOOP_VARIABLE, "", Output(scope.body.arguments[position], scope.body.argument_types[position]))
        for position, name in scope.loop_variables.items()
    ]
    merged = mergeable(scope) | scope.unread
    for node in scope.needed.nodes:
        if node.name in scope.needed.hidden or node.op in FAKES:
            continue
        site = scope.calls.get(node.name)
        if site is not None and site.kind is CallKind.PLAIN:
            items.extend(_of_call(site, items_of(site.scopes[0])))
            continue
        if site is not None:
            items.append(Item(None, None, site))
        read = scope.needed.slots[node.name]
        for slot, output in enumerate(scope.body.outputs(node.name)):
            if site is None or site.kind is CallKind.LOOP or slot in read:
                recipe = _recipe(scope, node, slot) if ReferenceTarget(node.name, slot) in merged else None
                known = constant_in(scope.body, node) if recipe is None else None
                name = TensorName(scope.name_of(node.name), slot)
                items.append(_item(name, node.op, node.device, output, recipe, known))
    return tuple(items)


_ITEMS = Memo(_found)


def _item(
    name: TensorName,
    op_type: str,
    device: str,
    output: Output,
    recipe: ValueRecipe | None = None,
    known: EagerTensor | None = None,
) -> Item:
    shown = Shown(name, op_type, device, output.dtype)
    return Item(shown, output.reference if output.returnable else None, recipe=recipe, known=known)


def _recipe(scope: Scope, node: NodeDef, slot: int) -> ValueRecipe:
    inputs = scope.body.data_inputs(node)
    return ValueRecipe(node, tuple(map(scope.resolve, [inputs[slot]] if node.op in SAME else inputs)))


def _of_call(site: CallSite, inside: Iterable[Item]) -> list[Item]:
    """The values `inside` a plain call, which are returned as further outputs after the call's own."""
    items = []
    position = len(site.scopes[0].body.returns)
    for item in inside:
        reference = None
        if item.given_back:
            reference = f"{site.node.name}:output:{position}"
            position += 1
        items.append(Item(item.shown, reference, item.site, item.recipe, item.known))
    return items


def hidden_in(scope: Scope) -> int:
    """How many nodes of `scope` and below are in loops and branches of version 1, whose values are not shown."""
    return sum(len(inner.needed.hidden) for inner in scope.all())


def unshown_calls(root: Scope) -> list[str]:
    """The nodes of `root` and below that call functions none of whose values are shown, as a loop over a dataset."""
    return [
        scope.name_of(node.name)
        for scope in root.all()
        for node in scope.needed.nodes
        if node.name not in scope.calls and any(named_by(node))
    ]


def given_items(scope: Scope, wanted: Collection[TensorName]) -> tuple[Item, ...]:
    """The items called `wanted` of `scope` and of the plain calls in it, inputs first."""
    items: list[Item] = []
    nodes = {name.node for name in wanted}
    for node in scope.needed.nodes:
        site = scope.calls.get(node.name)
        if site is not None and site.kind is CallKind.PLAIN:
            items.extend(_of_call(site, given_items(site.scopes[0], wanted)))
            continue
        if scope.name_of(node.name) not in nodes:
            continue
        for slot, output in enumerate(scope.body.outputs(node.name)):
            name = TensorName(scope.name_of(node.name), slot)
            if name in wanted and output.returnable:
                items.append(_item(name, node.op, node.device, output, known=constant_in(scope.body, node)))
    return tuple(items)
