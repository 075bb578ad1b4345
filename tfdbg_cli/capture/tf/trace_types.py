"""TraceTypes: what TensorFlow says of the arguments and results of a function, by classes that are private parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import AtomicFunction

_FORWARD = b"__forward_"  # how the name of a function begins that a tape calls in the place of the traced one


@dataclass(frozen=True)
class ForProgram:
    """What the program gets from a call: a value of the type `kind`, of the first `count` tensors; None: of all."""

    kind: Any
    count: int | None


def for_program(atomic: AtomicFunction) -> ForProgram:
    """What of all that `atomic` returns the program gets.

    What a tape calls returns further what the gradient needs, and the type of it all is a flat tuple: so it is told
    from what the program's function returned when it was traced, with the tensors of its graph.
    """
    structure = getattr(compat.built_graph_of(atomic), "structured_outputs", None)
    if structure is None or not atomic.name.startswith(_FORWARD):
        return ForProgram(atomic.function_type.output, None)
    tensors = [one for one in tf.nest.flatten(structure, expand_composites=True) if one is not None]
    return ForProgram(tf.nest.map_structure(tf.type_spec_from_value, structure), len(tensors))


def parts_of(kind: Any) -> Iterable[tuple[Any, Any]] | None:
    """What a container of the type `kind` holds, by key or place, in the order of its tensors; None of a value.

    `kind` is a TraceType, or a structure of TypeSpecs, as of what is in an Optional.
    """
    if isinstance(kind, Mapping):
        return _sorted(kind)
    if isinstance(kind, list | tuple):
        return zip(fields_of(kind), kind, strict=True)
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
    return _of_extension_type(kind)


def _of_extension_type(kind: Any) -> Iterable[tuple[str, Any]] | None:
    """The fields of an ExtensionType, if its tensors are all in fields of their own; None of any other."""
    if all(base.__name__ != "ExtensionTypeSpec" for base in type(kind).__mro__):
        return None
    parts = [(name, part) for name, part in vars(kind).items() if isinstance(part, tf.TypeSpec)]
    return parts if sum(len(part.flatten()) for _, part in parts) == len(kind.flatten()) else None


def fields_of(items: list[Any] | tuple[Any, ...]) -> Sequence[str] | Sequence[int]:
    """The names of what a namedtuple holds, of another sequence the places."""
    names = getattr(items, "__match_args__", ())  # the fields of a namedtuple, by a name that is not private
    return names if isinstance(names, tuple) and len(names) == len(items) else range(len(items))


def _sorted(mapping: Mapping[Any, Any]) -> Iterable[tuple[Any, Any]]:
    """The items by their keys, as TensorFlow flattens a dict; it refuses keys that have no order."""
    return sorted(mapping.items(), key=lambda item: item[0])
