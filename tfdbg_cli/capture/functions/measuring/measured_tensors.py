"""The tensors of a run whose statistics were computed while it ran, and returned in one vector (see `measures`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from tfdbg_cli.capture.functions.checking.measures import EXACT, WIDTH
from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.questions.question import element_count
from tfdbg_cli.formats.container.run_rows import STATISTICS_ALONE
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.statistics import Summary, summaries_of
from tfdbg_cli.model.tensors import EMPTY_STORE, FoundByNode, Tensor, TensorStore, gone, memory_of, summary_of
from tfdbg_cli.model.values import Array, NoValue, Value
from tfdbg_cli.ops.transparent_shapes import Shape

_PRECISE = 1e-4  # of the mean square; a smaller variance, a difference of float32 sums, is lost in rounding
_COUNTS = ("size", "nan", "neg_inf", "pos_inf", "neg", "zero", "pos")
_NOT_COUNTED = gone(
    "It holds NaN or infinities, or numbers whose squares overflow. The run could not be made again to count them."
)
_UNTOLD = gone(
    "Some tensor of the run had another size than TensorFlow says, so that it is not known what the numbers are."
)


@dataclass(frozen=True)
class Measured:
    """A tensor, and where its numbers begin in the vector of a run: `at`; or the `lack` of them.

    The numbers are statistics, or the elements themselves if `told`; if `given` the value is returned instead. They
    are those of `size` elements (None: known from the run), of which the tensor has each `times` times, negated if
    `negated`.
    """

    shown: Shown
    shape: Shape
    lack: NoValue | None
    at: int
    told: bool
    given: bool = False
    size: int | None = None
    negated: bool = False
    times: int = 1

    @property
    def counted(self) -> bool:
        """Whether there are numbers."""
        return self.lack is None and not self.given


class StatisticsLayout:
    """Where the statistics of the tensors of every run of a function stand, in order of execution."""

    def __init__(self, tensors: Sequence[Measured]) -> None:
        self.tensors = tensors
        self.names = FoundByNode(item.shown.name for item in tensors)
        self.described = [_described(item) for item in tensors]
        self.given = {place: row for row, place in enumerate(at for at, item in enumerate(tensors) if item.given)}
        rows = {item.at: item.size for item in tensors if item.counted and not item.told}
        told = {item.at: item.size or 0 for item in tensors if item.told and item.size}
        starts = np.fromiter(rows, np.int64, len(rows))
        self._row_of = {at: number for number, at in enumerate(rows)}
        self._rows = starts[:, None] + np.arange(WIDTH)
        self._sizes = np.array([-1 if size is None else size for size in rows.values()], np.int64)
        ends = [at + WIDTH + (size is None) for at, size in rows.items()]
        self._length = max([*ends, *(at + length for at, length in told.items())], default=0)
        self._behind = starts + WIDTH  # the place of the size, for tensors whose size was not known before
        self._told = list(told)
        self._lengths = list(told.values())
        spans = [np.arange(at, at + length) for at, length in told.items()]
        self._elements = np.concatenate(spans) if spans else np.empty(0, np.int64)

    def fits(self, vector: Array) -> bool:
        """Whether `vector` has as many numbers as all tensors together, if each has the size that is known of it."""
        return len(vector) == self._length

    def summaries(self, vector: Array) -> list[Summary | None]:
        """The statistics of each tensor in `vector`, the result of a run.

        None for tensors without statistics, and for those of which the vector does not tell them (see `_of_rows`). A
        vector that does not fit tells none.
        """
        if not self.fits(vector):
            return [None] * len(self.tensors)
        open_ = self._sizes < 0
        sizes = np.where(open_, vector[np.where(open_, self._behind, 0)] if len(vector) else 0, self._sizes)
        of_rows = _of_rows(vector[self._rows], sizes, (sizes <= EXACT) | ~open_)
        of_told = dict(zip(self._told, summaries_of(vector[self._elements], self._lengths), strict=True))
        found: list[Summary | None] = []
        for item in self.tensors:
            if not item.counted:
                found.append(None)
            elif item.told:
                found.append(_derived(of_told[item.at], item) if item.size else Summary(0))
            else:
                summary = of_rows[self._row_of[item.at]]
                if summary is not None and element_type(item.shown.dtype).name.startswith("complex"):
                    summary = replace(summary, of_magnitude=True)
                found.append(None if summary is None else _derived(summary, item))
        return found


class MeasuredTensors:
    """A `TensorStore` of tensors with statistics, which are in `vector` as `layout` says.

    `count` is called with the places of tensors whose statistics the vector does not tell, and returns them as far as
    it can. `values` has the tensors that are `given`, in order.
    """

    def __init__(
        self,
        layout: StatisticsLayout,
        vector: Array,
        count: Callable[[Sequence[int]], dict[int, Summary]] | None = None,
        values: TensorStore = EMPTY_STORE,
    ) -> None:
        self._layout = layout
        self._values = values
        self._lack = _NOT_COUNTED if layout.fits(vector) else _UNTOLD
        self._summaries = layout.summaries(vector)
        self._open = [
            place for place, item in enumerate(layout.tensors) if item.counted and self._summaries[place] is None
        ]
        for place, summary in (count(self._open) if count is not None and self._open else {}).items():
            self._summaries[place] = summary

    @property
    def spoiled(self) -> bool:
        """Whether some tensor holds a NaN or an infinity, or may."""
        values = (summary_of(self._values, row) for row in self._layout.given.values())
        told = chain(self._summaries, values)
        return bool(self._open) or any(summary is not None and summary.nonfinite for summary in told)

    def __len__(self) -> int:
        return len(self._layout.tensors)

    def __getitem__(self, index: int) -> Tensor:
        tensor = self._layout.described[index]
        row = self._layout.given.get(index)
        if row is not None:
            value = self._values[row]
            return replace(tensor, shape=value.shape, nbytes=value.nbytes)
        summary = self._summaries[index] if tensor.nbytes is None else None
        return tensor if summary is None else _sized(tensor, self._layout.tensors[index], summary.size)

    def value(self, index: int) -> Value:
        row = self._layout.given.get(index)
        if row is not None:
            return self._values.value(row)
        lack = self._layout.tensors[index].lack
        if lack is None and self._summaries[index] is None:
            return self._lack
        return lack or STATISTICS_ALONE

    def summary(self, index: int) -> Summary | None:
        """The statistics of the tensor at `index`; None where there are none, or its value."""
        return self._summaries[index]

    def valued(self) -> Sequence[int]:
        return list(self._layout.given)

    def memory(self, index: int) -> int | None:
        row = self._layout.given.get(index)
        return None if row is None else memory_of(self._values, row)

    def named(self, node: str, slot: int | None = None) -> Sequence[int]:
        return self._layout.names.named(node, slot)

    @cached_property
    def _nodes(self) -> Sequence[str]:
        return self._layout.names.nodes()

    def nodes(self) -> Sequence[str]:
        return self._nodes


def _derived(summary: Summary, item: Measured) -> Summary:
    """The statistics of `item`, from those of the elements that it is made of."""
    if item.negated:
        summary = replace(
            summary,
            neg_inf=summary.pos_inf, pos_inf=summary.neg_inf, neg=summary.pos, pos=summary.neg,
            min=_negated(summary.max), max=_negated(summary.min),
            mean=None if summary.mean is None else 0.0 - summary.mean,  # a mean of 0 has no sign
        )  # fmt: skip
    if item.times > 1:
        counts = {name: getattr(summary, name) * item.times for name in _COUNTS}
        summary = replace(summary, **counts)
    return summary


def _negated(number: float | None) -> float | None:
    return None if number is None else -number


def _described(item: Measured) -> Tensor:
    shown, size, dtype = item.shown, element_count(item.shape), element_type(item.shown.dtype)
    shape = None if item.shape is None or None in item.shape else tuple(length or 0 for length in item.shape)
    nbytes = None if size is None or dtype.itemsize is None else size * dtype.itemsize
    return Tensor(shown.name, shown.device, 0, dtype.name, shape, nbytes, None, shown.op_type)


def _sized(tensor: Tensor, item: Measured, size: int) -> Tensor:
    """`tensor` with its `size` in elements, and with its shape if only one dimension was unknown."""
    shape = None
    if item.shape is not None and item.shape.count(None) == 1:
        others = element_count(tuple(length for length in item.shape if length is not None))
        if others:
            shape = tuple(size // others if length is None else length for length in item.shape)
    width = element_type(item.shown.dtype).itemsize
    return replace(tensor, shape=shape, nbytes=None if width is None else size * width)


def _of_rows(rows: Array, sizes: Array, exact: Array) -> list[Summary | None]:
    """The summaries of tensors of `sizes` elements, from `rows` of `measures.WIDTH` numbers each.

    None for a tensor that has non-finite elements, or whose sum of squares overflows, or whose signs are not added up
    exactly (`exact`).
    """
    total, least, largest, half_square, signs, half_others = rows.T
    with np.errstate(all="ignore"):
        mean = np.where(least == largest, least, np.clip(total / sizes, least, largest))
        mean_square = 2 * half_square / sizes
        variance = np.where(least == largest, 0.0, mean_square - np.square(mean))
        known = (variance > _PRECISE * mean_square) | (least == largest)
        std = np.sqrt(np.maximum(variance, 0))
    others = 2 * half_others
    some = sizes > 0
    certain = np.isfinite(half_square) & exact
    found: list[Summary | None] = []
    columns = (sizes, others, signs, least, largest, mean, std, known, some, certain)
    for size, other, sign, low, high, middle, spread, told, any_, sure in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        if not any_:
            found.append(Summary(0))
        elif not sure:
            found.append(None)
        else:
            neg, pos = round((other - sign) / 2), round((other + sign) / 2)
            count = int(size)
            found.append(
                Summary(count, 0, 0, 0, neg, count - neg - pos, pos, low, high, middle, spread if told else None)
            )
    return found
