"""What the program calls the values that a function gives back: `loss` in `return {"loss": loss}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.trace_types import ForProgram, parts_of
from tfdbg_cli.model.names import TensorName, name_of_part


@dataclass(frozen=True)
class Results:
    """What the program gets from a function: its tensors, each once, and what the program calls those with names."""

    tensors: tuple[TensorName, ...]
    names: Mapping[TensorName, str]


def results_among(given: ForProgram, returned: Sequence[Sequence[TensorName]]) -> Results:
    """Those tensors of `returned`, as of `result_names`, that the program is `given`."""
    own = returned[: given.count]
    return Results(tuple(dict.fromkeys(chain(*own))), result_names(given.kind, own))


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
    parts = parts_of(kind)
    if parts is not None:
        for key, part in parts:
            yield from _leaves(part, name_of_part(name, key))
    elif isinstance(kind, tf.OptionalSpec) or not hasattr(kind, "flatten"):
        yield name, kind
    else:
        yield from ((name, tensor) for tensor in kind.flatten())  # a sparse one has three, of one name
