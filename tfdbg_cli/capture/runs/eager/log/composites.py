"""Ragged and sparse tensors of the program, of which eager ops are given the parts one by one.

An op that reads the values of all rows says nothing of where the rows are. So the calls of the program are searched
for the whole, and its other parts come into the run with the values, by the names that TensorFlow 1 gives to
placeholders of such tensors: `r/flat_values` and `r/row_splits_0`, `s/values`, `s/indices` and `s/shape`.
"""

from __future__ import annotations

import inspect
from collections.abc import Container, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import FrameType
from typing import Any
from weakref import WeakValueDictionary

import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.callers import is_users, names_in
from tfdbg_cli.capture.tf.compat import EagerTensor
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.process.own_frames import is_own

_KNOWN: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""The ragged and sparse tensors that were found, by the ids of their parts (ids are not used twice)."""


@dataclass(frozen=True)
class Composite:
    """A ragged or sparse tensor that the program calls `name`: its parts by what each is (`row_splits_0`)."""

    name: str
    parts: Mapping[str, EagerTensor]

    def names_beside(self, taken: Container[str]) -> dict[str, EagerTensor]:
        """The parts by names in a run in which the names `taken` stand for something else."""
        number = 0
        while True:
            stem = f"{self.name}_{number}" if number else self.name
            names = {f"{stem}/{part}": tensor for part, tensor in self.parts.items()}
            if not any(name in taken for name in names):
                return names
            number += 1


def composites_at_hand(wanted: AbstractSet[int]) -> dict[int, Composite]:
    """The ragged and sparse tensors that the calls of this thread have a name for, by the ids of `wanted` parts."""
    found: dict[int, Composite] = {}
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_own(file) and is_users(file):
            here = _named(names_in(frame))
            found = {**{key: whole for key, whole in here.items() if key in wanted}, **found}
        frame = frame.f_back
    return found


def composites_of(frames: Sequence[LiveFrame]) -> dict[int, Composite]:
    """The same of `frames`, the outermost first, with the ids of all their parts."""
    found: dict[int, Composite] = {}
    for frame in frames:
        if is_users(frame.place.file):
            found.update(_named(frame.names))
    return found


def _named(names: Mapping[str, Any]) -> dict[int, Composite]:
    """The ragged and sparse tensors among what a call has `names` for, by the ids of their parts."""
    found: dict[int, Composite] = {}
    for name, value in list(names.items()):
        if isinstance(value, tf.RaggedTensor | tf.SparseTensor) and not name.startswith("__"):
            composite = _composite(name, value)
            for part in composite.parts.values() if composite is not None else ():
                assert composite is not None
                found.setdefault(compat.tensor_id(part), composite)
                _KNOWN[compat.tensor_id(part)] = value
    return found


def known_composite(part: int, name: str) -> Composite | None:
    """The tensor that was found before of which `part` is an id; by `name`. None for none, or where it is gone."""
    value = _KNOWN.get(part)
    return None if value is None else _composite(name, value)


def _composite(name: str, value: Any) -> Composite | None:
    """The parts of `value`; None where they are no tensors of eager code."""
    if isinstance(value, tf.SparseTensor):
        parts = {"values": value.values, "indices": value.indices, "shape": value.dense_shape}
    else:
        splits = {f"row_splits_{level}": one for level, one in enumerate(value.nested_row_splits)}
        parts = {"flat_values": value.flat_values, **splits}
    return Composite(name, parts) if all(type(part) is EagerTensor for part in parts.values()) else None
