"""What the program calls the values that a function gives back: `loss` in `return {"loss": loss}`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.model.names import TensorName


def result_names(output: Any, returned: Sequence[Sequence[TensorName]]) -> dict[TensorName, str]:
    """The names of the tensors in `returned`, as one takes them out of what a function of the type `output` gives.

    `returned` are the tensors of each value that comes back, in order: one, or those packed into an Optional. A name
    is `loss`, `[0]` or `logs['a b'][1]`, empty of what is returned alone; a tensor that comes back twice has the name
    of the first place. What the type and the tensors do not agree about has none.
    """
    leaves = list(_leaves(output, ""))
    if len(leaves) != len(returned):
        return {}
    found: dict[TensorName, str] = {}
    for (name, kind), tensors in zip(leaves, returned, strict=True):
        inside = [name]
        if isinstance(kind, tf.OptionalSpec):
            inside = [one for one, _ in _leaves(compat.elements_in(kind), name)]
        if inside and len(tensors) % len(inside) == 0:  # more than once: each side of a branch packs them all
            for place, tensor in enumerate(tensors):
                found.setdefault(tensor, inside[place % len(inside)])
    return found


def _leaves(kind: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Each tensor in a value of the type `kind`, which the program calls `name`, with its own name and type."""
    parts = _parts(kind)
    if parts is not None:
        for key, part in parts:
            yield from _leaves(part, _inside(name, key))
    elif isinstance(kind, tf.OptionalSpec) or not hasattr(kind, "flatten"):
        yield name, kind
    else:
        yield from ((name, tensor) for tensor in kind.flatten())  # a sparse one has three, of one name


def _parts(kind: Any) -> Iterable[tuple[Any, Any]] | None:
    """What a container of the type `kind` holds, by key or place, in the order of its tensors; None of a value."""
    if isinstance(kind, Mapping):
        return _sorted(kind)
    if isinstance(kind, list | tuple):
        return zip(getattr(kind, "__match_args__", range(len(kind))), kind, strict=True)
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
            return _parts(kind.named_attributes)
    return None


def _sorted(mapping: Mapping[Any, Any]) -> Iterable[tuple[Any, Any]]:
    """The items by their keys, as TensorFlow flattens a dict; it refuses keys that have no order."""
    return sorted(mapping.items(), key=lambda item: item[0])


def _inside(name: str, key: Any) -> str:
    """What is called `key` in the value `name`."""
    if isinstance(key, str) and key.isidentifier():
        return f"{name}.{key}" if name else key
    return f"{name}[{key!r}]"
