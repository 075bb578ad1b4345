"""What the variables of a checkpoint are called: by their keys, and what the program's objects say of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.model.restoring import SavedObject

_SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
_SLOT = "/.OPTIMIZER_SLOT/"


def shown_names(keys: Iterable[str]) -> dict[str, str]:
    """By key the name under which a variable is shown: the way to it through the program's objects, if it has one."""
    keys = list(keys)
    taken = set(keys)
    found: dict[str, str] = {}
    for key in keys:
        name = key.removesuffix(_SUFFIX).replace(_SLOT, "/") if key.endswith(_SUFFIX) else key
        found[key] = name if name and name not in taken else key
        taken.add(found[key])
    return found


@dataclass(frozen=True, slots=True)
class VariableFacts:
    """What an object graph says of a variable: what the program calls it, and of which one it is a slot."""

    full_name: str
    slot_of: str = ""


def objects_of(objects: bytes) -> Sequence[SavedObject]:
    """The objects of a serialized TrackableObjectGraph, the root first.

    Raises:
        ValueError: the bytes are none.

    """
    return [
        SavedObject(
            {child.local_name: child.node_id for child in node.children},
            tuple(one.checkpoint_key for one in node.attributes),
        )
        for node in _graph(objects).nodes
    ]


def facts_of(objects: bytes) -> Mapping[str, VariableFacts]:
    """What a serialized TrackableObjectGraph says of the variables, by key.

    Raises:
        ValueError: the bytes are none.

    """
    graph = _graph(objects)
    slots: dict[int, str] = {}
    for node in graph.nodes:
        for slot in node.slot_variables:
            original = _variable(graph, slot.original_variable_node_id)
            if original is not None:
                slots[slot.slot_variable_node_id] = original.checkpoint_key
    return {
        one.checkpoint_key: VariableFacts(one.full_name, slots.get(number, ""))
        for number, node in enumerate(graph.nodes)
        for one in node.attributes
    }


def _graph(objects: bytes) -> Any:
    try:
        return schema.CLASSES["TrackableObjectGraph"].FromString(objects)
    except schema.DecodeError as error:
        raise ValueError("The bytes are no graph of objects.") from error


def _variable(graph: Any, number: int) -> Any:
    """What the node with that number saves; None where it saves nothing."""
    node = graph.nodes[number] if 0 <= number < len(graph.nodes) else None
    return node.attributes[0] if node is not None and len(node.attributes) else None
