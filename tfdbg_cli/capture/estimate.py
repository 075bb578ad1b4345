"""What a capture will take, from the static shapes of the tensors and the shapes of the feeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tfdbg_cli.capture.budget import disk_budget, memory_budget
from tfdbg_cli.capture.tf.types import SymbolicTensor
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.dtypes import element_type_named
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Estimate

_STRING_BYTES = 32  # a guess for one string; there is nothing better before the run


def estimate(
    tensors: Iterable[SymbolicTensor],
    feeds: Mapping[str, Any],
    kind: GraphKind,
    settings: Settings,
    directory: Path | None,
) -> Estimate:
    """The bytes that the values of `tensors` (tf.Tensors in a graph) take while `feeds` are fed by name.

    A dimension that is unknown in the graph is taken from the feeds where all of them agree: the leading one is
    then the size of the batch. Tensors that stay unknown are counted, and left out of the sum.
    """
    shapes = {name: np.shape(value) for name, value in feeds.items() if value is not None and _is_regular(value)}
    batch = _batch(tensors := list(tensors), shapes)
    total = 0
    unknown = 0
    for tensor in tensors:
        nbytes = _nbytes(tensor, shapes.get(tensor.name), batch)
        total += nbytes or 0
        unknown += nbytes is None
    on_disk = kind is GraphKind.RUNTIME
    return Estimate(
        tensors=len(tensors),
        nbytes=None if tensors and unknown == len(tensors) else total,
        unknown=unknown,
        budget=disk_budget(settings, directory) if on_disk else memory_budget(settings),
        medium="disk" if on_disk else "memory",
    )


def _is_regular(value: Any) -> bool:
    try:
        np.shape(value)
    except ValueError:  # nested lists of different lengths; the run will complain
        return False
    return True


def _batch(tensors: Iterable[SymbolicTensor], fed_shapes: Mapping[str, tuple[int, ...]]) -> int | None:
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
    element = element_type_named(tensor.dtype.base_dtype.name)
    itemsize = (element.itemsize if element else None) or _STRING_BYTES
    return itemsize * math.prod(shape)
