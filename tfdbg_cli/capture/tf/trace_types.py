"""TraceTypes: what TensorFlow says of the arguments and results of a function, by classes that are private parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def parts_of(kind: Any) -> Iterable[tuple[Any, Any]] | None:
    """What a container of the type `kind` holds, by key or place, in the order of its tensors; None of a value.

    `kind` is a TraceType, or a structure of TypeSpecs, as of what is in an Optional.
    """
    if isinstance(kind, Mapping):
        return _sorted(kind)
    if isinstance(kind, list | tuple):
        return zip(_fields(kind), kind, strict=True)
    match type(kind).__name__:
        case "Dict":
            return _sorted(kind.mapping)
        case "List":
            return enumerate(kind.components_tuple.components)
        case "Tuple":
            return enumerate(kind.components)
        case "NamedTuple":
            return zip(kind.attribute_names, kind.attributes.components, strict=True)
        case "Attrs":
            return parts_of(kind.named_attributes)
    return None


def _fields(items: list[Any] | tuple[Any, ...]) -> Iterable[Any]:
    """The names of what a namedtuple holds, of another sequence the places."""
    names = getattr(items, "_fields", ())
    return names if len(names) == len(items) else range(len(items))


def _sorted(mapping: Mapping[Any, Any]) -> Iterable[tuple[Any, Any]]:
    """The items by their keys, as TensorFlow flattens a dict; it refuses keys that have no order."""
    return sorted(mapping.items(), key=lambda item: item[0])
