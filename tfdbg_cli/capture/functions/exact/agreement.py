"""Whether two calls of a function from the same state gave the same, to the last bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import tensorflow as tf

from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.kept_tensors import array_of
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.model.exactness import Parting, parted
from tfdbg_cli.model.values import Value


@dataclass(frozen=True)
class Effect:
    """What a call did: its flat outputs, and its variables after it, by position; None where one is not known."""

    outputs: Sequence[EagerTensor | None]
    variables: Mapping[int, EagerTensor | None]


@dataclass(frozen=True)
class Agreement:
    """How many outputs and variables were compared, and which of them were not the same."""

    compared: int
    partings: tuple[Parting, ...]


def agreement(root: Scope, first: Effect, second: Effect) -> Agreement:
    """Compare two calls of the function of `root`, as far as both are known and hold numbers."""
    names = [str(root.resolve(reference)) for reference in root.body.returns]
    triples = list(zip(names, first.outputs, second.outputs, strict=False))
    triples += [(root.argument_names[at], value, second.variables.get(at)) for at, value in first.variables.items()]
    known = [(name, array_of(one), array_of(two)) for name, one, two in triples if _holds(one) and _holds(two)]
    found: dict[str, tuple[Value, Value]] = {}
    for name, one, two in known:
        found.setdefault(name, (one, two))
    return Agreement(
        len(found), parted(found, (one for one, _ in found.values()), (two for _, two in found.values()))
    )


def _holds(tensor: EagerTensor | None) -> bool:
    return tensor is not None and tensor.dtype not in (tf.resource, tf.variant)
