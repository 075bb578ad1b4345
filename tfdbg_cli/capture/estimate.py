"""What a capture will take, from the static shapes of the tensors and the shapes of the feeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from tfdbg_cli.capture.budget import disk_budget, memory_budget
from tfdbg_cli.capture.tf.opaque import dtype_name
from tfdbg_cli.capture.tf.types import SymbolicTensor
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.dtypes import element_type_named
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Estimate

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]

_STRING_BYTES = 32  # a guess for one string; there is nothing better before the run


@dataclass(frozen=True, slots=True)
class NeededSpace:
    """What values take: how many tensors they are, and how many of these are left out of the bytes."""

    tensors: int
    nbytes: int | None
    unknown: int

    def estimate(self, kind: GraphKind, settings: Settings, directory: Path | None) -> Estimate:
        """The same beside what may be taken now."""
        on_disk = kind is GraphKind.RUNTIME
        budget = disk_budget(settings, directory) if on_disk else memory_budget(settings)
        return Estimate(self.tensors, self.nbytes, self.unknown, budget, "disk" if on_disk else "memory")


def shapes_of(feeds: Mapping[str, Any]) -> Shapes:
    """The shapes of what is fed, by name, as far as it has one."""
    return {name: np.shape(value) for name, value in feeds.items() if value is not None and _is_regular(value)}


def needed(tensors: Sequence[SymbolicTensor], shapes: Shapes) -> NeededSpace:
    """What the values of `tensors` (tf.Tensors in a graph) take while what is fed by name has these `shapes`.

    A dimension that is unknown in the graph is taken from the feeds where all of them agree: the leading one is
    then the size of the batch. Tensors that stay unknown are counted, and left out of the sum.
    """
    batch = _batch(tensors, shapes)
    found = [_nbytes(tensor, shapes.get(tensor.name), batch) for tensor in tensors]
    known = [nbytes for nbytes in found if nbytes is not None]
    return NeededSpace(len(found), sum(known) if known or not found else None, len(found) - len(known))


def _is_regular(value: Any) -> bool:
    try:
        np.shape(value)
    except ValueError:  # nested lists of different lengths; the run will complain
        return False
    return True


def _batch(tensors: Iterable[SymbolicTensor], fed_shapes: Shapes) -> int | None:
    sizes = set()
    for tensor in tensors:
        fed = fed_shapes.get(tensor.name)
        if fed and (tensor.shape.rank is None or (tensor.shape.rank and tensor.shape[0] is None)):
            sizes.add(fed[0])
    return sizes.pop() if len(sizes) == 1 else None


def _nbytes(tensor: SymbolicTensor, fed: tuple[int, ...] | None, batch: int | None) -> int | None:
    shape = fed
    if shape is None:
        if tensor.shape.rank is None:
            return None
        dims = tensor.shape.as_list()
        if dims and dims[0] is None:
            dims[0] = batch
        if None in dims:
            return None
        shape = tuple(dims)
    element = element_type_named(dtype_name(tensor))
    itemsize = (element.itemsize if element else None) or _STRING_BYTES
    return itemsize * math.prod(shape)
