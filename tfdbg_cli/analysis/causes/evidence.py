"""What is known about a tensor's non-finite elements when their cause is looked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tfdbg_cli.analysis.batch.batch_roles import BatchRole
from tfdbg_cli.analysis.causes.surroundings import Surroundings
from tfdbg_cli.analysis.graph.flow.last_update import variable_shown
from tfdbg_cli.analysis.graph.making.fused_ops import as_written
from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.analysis.graph.making.makers import Maker
from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE, REDUCTIONS, parts_of
from tfdbg_cli.analysis.graph.nodes.feeds import feed_name
from tfdbg_cli.model.dtypes import in_double, is_inexact, name_of
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.repeated_element import first_places
from tfdbg_cli.model.statistics import any_nonfinite
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import Array

# The other inputs say along which axes, not with what.
_FIRST_INPUT_ONLY = REDUCTIONS | {"Cumsum", "Cumprod", "SegmentSum", "UnsortedSegmentSum"}
_OTHERWISE_ALIGNED = {"BiasAdd", "Select"}  # a vector does not run along their last axis
_LARGE_WEIGHT = 1e3  # weights begin below 1
_LOOKED_AT = 10_000  # offending elements that are compared with their inputs; more would not tell more


@dataclass(frozen=True, kw_only=True)
class Evidence(Surroundings):
    """An op, its offending output elements and, for an elementwise op, the input elements that made them.

    `outputs` and each of `operands` are 1-D, float64 or complex128, and aligned element by element; `places` has the
    index of each of these in the output, one a row. `operands` holds None for an input that was not seen or cannot be
    aligned. `arrays` are the whole inputs. `largest` is the largest finite number of the dtype. `more` says that
    there are more offending elements than those.
    """

    op_type: str
    dtype: str
    largest: float
    outputs: Array
    operands: tuple[Array | None, ...]
    arrays: tuple[Array | None, ...]
    names: tuple[str, ...]
    node: str
    variable: str  # the one that the op shows after its update; of another op its name
    places: Array  # where `outputs` stand, one a row
    more: bool

    def counted(self, held: Array, position: int | None) -> str:
        """The number of `held` elements among `outputs` in words; with a `position`, that of elements of this input.

        The two differ if the input is broadcast: one of its elements then belongs to many of the output.
        """
        n = int(np.count_nonzero(held))
        array = None if position is None or self.operand(position) is None else self.arrays[position]
        if array is not None and array.size and self.op_type not in _OTHERWISE_ALIGNED:
            rank = self.places.shape[1]
            axes = [rank - array.ndim + axis for axis, size in enumerate(array.shape) if size != 1]
            if len(axes) < rank:
                n = len(np.unique(self.places[held][:, axes], axis=0)) if axes else min(n, 1)
        return f"{count_text(n, 'element')}{' or more' if self.more else ''}"

    def operand(self, position: int) -> Array | None:
        """The aligned elements of input `position`, or None."""
        return self.operands[position] if position < len(self.operands) else None

    def name(self, position: int) -> str:
        """The name of input `position`, and which part of the batch it is."""
        if position >= len(self.names):
            return "its input"
        role = self.batch_role(position)
        return self.names[position] if role is None else f"{self.names[position]} of {role}"

    @property
    def constant(self) -> int | None:
        """The position (0 or 1) of a constant whose square exceeds the range of the dtype; None if there is none."""
        for position, array in enumerate(self.arrays[:2]):
            if self.maker(position) is Maker.CONSTANT and largest_magnitude(array) > math.sqrt(self.largest):
                return position
        return None

    @property
    def scalable(self) -> int:
        """The position (0 or 1) of the input of largest magnitude among the first two, constants left out."""
        sizes = {
            i: largest_magnitude(array)
            for i, array in enumerate(self.arrays[:2])
            if self.maker(i) is not Maker.CONSTANT
        }
        return max(sizes, key=lambda i: sizes[i], default=0)

    @property
    def weight(self) -> float | None:
        """The largest magnitude of a variable among the first two inputs; None where none is of a size to blame."""
        variables = (i for i in range(len(self.arrays[:2])) if self.maker(i) is Maker.VARIABLE)
        largest = max(
            (largest_magnitude(array) for i in variables if (array := self.arrays[i]) is not None), default=0.0
        )
        return largest if largest > _LARGE_WEIGHT else None

    def batch_role(self, position: int) -> BatchRole | None:
        """Which part of the batch input `position` is; None for what is none, or where nobody knows."""
        return self.batch[position] if position < len(self.batch) else None

    def magnitudes(self, position: int) -> tuple[float, float]:
        """The least and the largest magnitude, zeros aside, among the aligned elements of input `position`."""
        operand = self.operand(position)
        sizes = np.abs(operand[operand != 0]) if operand is not None else np.zeros(0)
        return (float(sizes.min()), float(sizes.max())) if sizes.size else (0.0, 0.0)

    def maker(self, position: int) -> Maker | None:
        """What input `position` is; None when nobody knows."""
        return self.makers[position] if position < len(self.makers) else None

    def is_gradient(self, position: int) -> bool:
        """Whether input `position` is a gradient; no where nobody knows."""
        return any(self.gradients[position:][:1])

    @property
    def seen_finite(self) -> bool:
        """Whether inputs were seen, and all of those are finite."""
        seen = [array for array in self.arrays if array is not None]
        return bool(seen) and all(map(is_finite, seen))

    @property
    def finite_inputs(self) -> bool:
        """Whether every input that takes part in the arithmetic was seen and is finite."""
        taking_part = self.arrays[:1] if self.op_type in _FIRST_INPUT_ONLY else self.arrays
        return bool(taking_part) and all(array is not None and is_finite(array) for array in taking_part)


def largest_magnitude(array: Array | None) -> float:
    """The largest magnitude in `array`; 0 where it holds no numbers."""
    if array is None or not array.size or not is_inexact(array.dtype):
        return 0.0
    return float(np.max(np.abs(in_double(array))))


def is_finite(array: Array) -> bool:
    """Whether no element is NaN or infinite; strings and handles count as finite."""
    return not any_nonfinite(array)


def gather(
    node: Node, value: Array, bad: Array, inputs: Sequence[InputSeen], around: Surroundings | None = None
) -> Evidence:
    """The evidence about the elements of `value` where `bad` is True; `around` is what the graph says of `node`."""
    node = as_written(node)
    places = first_places(bad, _LOOKED_AT + 1)
    more = len(places) > _LOOKED_AT
    places = places[:_LOOKED_AT]
    where = tuple(places.T) if value.ndim else ()
    arrays = tuple(item.value for item in inputs)
    outputs = in_double(value[where].reshape(-1))
    if node.op_type in ELEMENTWISE and len(places):
        operands = tuple(_aligned(node, arrays, i, value.shape, where) for i in range(len(arrays)))
    else:
        operands = (None,) * len(arrays)
    feeds = [feed_name(item.node) for item in inputs]
    names = tuple(str(feed or item.name) for feed, item in zip(feeds, inputs, strict=True))
    if around is None:
        around = Surroundings(tuple(None if feed is None else Maker.DATA for feed in feeds))
    return Evidence(
        op_type=node.op_type,
        dtype=name_of(value.dtype),
        largest=_largest(value),
        outputs=outputs,
        operands=operands,
        arrays=arrays,
        names=names,
        node=node.name,
        variable=variable_shown(node),
        places=places,
        more=more,
        **vars(around),
    )


def _aligned(
    node: Node, arrays: Sequence[Array | None], i: int, shape: tuple[int, ...], where: tuple[Array, ...]
) -> Array | None:
    array = arrays[i]
    if array is None or array.dtype.hasobject:
        return None
    first = tuple(int(axis[0]) for axis in where)
    alone = [other if j == i else None for j, other in enumerate(arrays)]
    if parts_of(node, alone, shape, first)[i] is None:
        return None
    if array.ndim == 1 and len(shape) > 1 and array.shape[0] != 1:
        # A vector runs along the last axis, but a bias in NCHW and a condition of Select do not.
        parts = (parts_of(node, alone, shape, tuple(int(x) for x in place))[i] for place in zip(*where, strict=True))
        return in_double(np.array([0 if part is None else part.value for part in parts]))
    return in_double(np.broadcast_to(array, shape)[where].reshape(-1))


def _largest(value: Array) -> float:
    if not is_inexact(value.dtype):
        return float("inf")
    dtype = value.real.dtype if value.dtype.kind == "c" else value.dtype
    return float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
