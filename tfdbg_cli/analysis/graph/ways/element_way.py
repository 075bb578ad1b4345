"""The way by which one element of a tensor came to be what it is, as far as the values on it tell.

Of `y - p`, with y about 1 and p about 1e20, p made the difference so large; of a product it is the factor farthest
from 1, of a product of matrices that of zeros or of far larger numbers; where none stands out, what is no variable.
Where a root or a logarithm was taken of it, and it is negative, it is the negative factor, however near to 1.
Of what was joined it is the part in which the element lay; of a tf.where the branch that was chosen, or the condition
where that branch is a number that the program wrote; of a mean of nothing the indices that say that nothing is taken.
What an op only moved is followed to where it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from tfdbg_cli.analysis.graph.making.fused_ops import as_written
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage, variable_of
from tfdbg_cli.analysis.graph.making.makers import Maker, maker_of
from tfdbg_cli.analysis.graph.making.parts import (
    ELEMENTWISE,
    KNOWN,
    REDUCTIONS,
    Index,
    Part,
    PartIndex,
    part_at,
    parts_of,
    value_inputs,
)
from tfdbg_cli.analysis.graph.ways.chosen_elements import chooses, chosen_elements, equal_elements
from tfdbg_cli.analysis.graph.ways.moved_element import moved_from
from tfdbg_cli.analysis.graph.ways.telling_element import ONE_OF_MANY, telling_element
from tfdbg_cli.model.dtypes import in_double, is_inexact
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import ACCUMULATIONS, INPUTS, JOINS, LONG_SUMS, MATMULS, SELECTS, SUMS, TRUTHS

NOWHERE: Mapping[str, int] = MappingProxyType({})
_MOST_STEPS = 200
_MOST_BYTES = 1 << 28
_DOMINATES = 10.0  # times as large as any other term: then it alone made the sum so large
_LARGE = 1e3  # inputs and weights of a model are far smaller
_ONE_OF_ONE = ELEMENTWISE | TRUTHS  # one element of each input makes one of the result
_OF_WEIGHTS = SUMS | LONG_SUMS | MATMULS | {"Mul"}
_EXTREMES = {"Maximum": 1, "Minimum": -1}
_NOT_OF_NEGATIVE = frozenset({"Sqrt", "Rsqrt", "Log", "Log1p", "Pow", "Lgamma"})  # what is below 0 is the fault


def element_way(
    run: Run,
    lineage: Lineage,
    row: int,
    element: Index,
    through: int | None = None,
    steps: ElementSteps | None = None,
) -> dict[str, int]:
    """Which input to take at each node, by name, on the way back from `element` of the tensor at `row`.

    It takes the input at position `through` of the first one, if given, and ends where the values do not tell. Who
    asks for many elements gives the `steps`, which read so much for all of them together.
    """
    way: dict[str, int] = {}
    steps = steps or ElementSteps(run, lineage)
    negative = False
    while len(way) < _MOST_STEPS:
        step = steps.back(row, element, negative)
        if step is None or step.op.name in way:
            break
        chosen = through if not way and through is not None else step.chosen
        if chosen is None or chosen >= len(step.inputs):
            break
        way[step.op.name] = chosen
        index, part = step.inputs[chosen].index, step.parts[chosen]
        if index is None or part is None:
            break
        if not part.value.size:
            return {**_way_of_nothing(lineage, index), **way}
        negative = _asks_of_sign(step.op.op_type, negative) and _may_be_negative(part)
        row, element = index, telling_element(step.op, element, part, negative)
    return way


def lone_origin(steps: ElementSteps, row: int, element: Index, way: Mapping[str, int] = NOWHERE) -> LoneOrigin:
    """The tensor and the place from which `element` of the tensor at `row` comes, as far as it comes of one place.

    So it does through ops that move elements, join tensors, choose the largest or the smallest, or compute each
    element of one of their input alone; and by the input that `way`, its `element_way`, names of several.
    """
    met: set[int] = set()
    while row not in met and len(met) < _MOST_STEPS:
        met.add(row)
        step = steps.back(row, element, None)
        chosen = None if step is None else way.get(step.op.name, step.chosen)
        if step is None or chosen is None or not (chosen < len(step.inputs) and (step.alone or step.op.name in way)):
            break
        item, places = step.inputs[chosen], step.places(chosen, element)
        # A vector beside a matrix runs along columns: its elements are of no row.
        if not places or (step.op.op_type in _ONE_OF_ONE and len(places[0]) < len(element)):
            break
        if item.index is None:
            return LoneOrigin(row, (element,), item, places)
        row, element = item.index, places[0]
        if len(places) > 1:
            return LoneOrigin(row, places)
    return LoneOrigin(row, (element,))


@dataclass(frozen=True)
class LoneOrigin:
    """Where an element comes from: `elements` of the tensor at `row`; several that are equal, if one was chosen.

    Behind them it is those at `places` of `given`, an input that no tensor shows.
    """

    row: int
    elements: tuple[Index, ...]
    given: InputSeen | None = None
    places: tuple[Index, ...] = ()


@dataclass(frozen=True)
class _Step:
    """What `op` made one element of: the `parts` of its `inputs`, and the position of the one that counts.

    `alone` says that the element is made of that input alone, of one of those at `equal` there, if it was chosen so.
    """

    op: Node
    inputs: Sequence[InputSeen]
    parts: Sequence[Part | None]
    chosen: int | None
    alone: bool
    equal: tuple[Index, ...] = ()

    def places(self, position: int, element: Index) -> tuple[Index, ...]:
        """The places of the input at `position` of which `element` is one, or computed alone; none for several."""
        part = self.parts[position]
        if part is None or not part.value.size:
            return ()
        if self.equal and position == self.chosen:
            return self.equal
        if None not in part.index:
            return (tuple(place for place in part.index if place is not None),)
        if self.op.op_type not in ONE_OF_MANY:
            return ()
        return equal_elements(part, telling_element(self.op, element, part, False))


class ElementSteps:
    """Steps back from elements of tensors of `run`, until too many values would have to be read for them."""

    def __init__(self, run: Run, lineage: Lineage) -> None:
        self._run = run
        self._lineage = lineage
        self._read = 0

    def back(self, row: int, element: Index, negative: bool | None) -> _Step | None:
        """What made the `element` of the tensor at `row`, or made it `negative`; None where that is not known.

        With None for `negative` it is not asked for signs, for which values would be read.
        """
        node, tensor, inputs = self._lineage.node(row), self._run.tensors[row], self._lineage.places(row)
        if node is None or tensor.shape is None or len(tensor.shape) != len(element):
            return None
        node = as_written(node)
        op_type = node.op_type
        computed = [at for at in value_inputs(op_type, len(inputs)) if not _is_written(inputs[at], self._lineage)]
        moved = None
        if op_type not in KNOWN:
            moved = moved_from(self._run, self._lineage, row, node, element)
        of_one = len(computed) == 1 and op_type in _ONE_OF_ONE
        by_sign = _asks_of_sign(op_type, negative)
        at_hand = None not in moved[1] if moved is not None else of_one and not by_sign
        arrays = [_shaped(item) for item in inputs] if at_hand else self._values(row, inputs)
        if arrays is None:
            return None
        parts = parts_of(node, arrays, tensor.shape, element) if moved is None else ()
        one = chosen_elements(node, arrays, parts, element) if chooses(node) else None
        if one is not None:
            picked = _only_at(one.position, one.elements[0], arrays)
            return _Step(node, inputs, picked, one.position, alone=True, equal=one.elements)
        if moved is not None:
            return _Step(node, inputs, _only_at(*moved, arrays), moved[0], alone=True)
        chosen = _chosen(op_type, parts, computed, inputs, bool(negative))
        if chosen is None and op_type in _OF_WEIGHTS:
            chosen = self._of_data(computed, inputs)
        return _Step(node, inputs, parts, chosen, alone=of_one or op_type in JOINS | ONE_OF_MANY)

    def _of_data(self, computed: Sequence[int], inputs: Sequence[InputSeen]) -> int | None:
        """The position of the one input that is read from no variable; None where there are several, or none."""
        of_data = [at for at in computed if (node := inputs[at].node) and variable_of(node, self._lineage) is None]
        return of_data[0] if len(of_data) == 1 else None

    def _values(self, row: int, inputs: Sequence[InputSeen]) -> list[Array | None] | None:
        """Values tell which input it is, or which of its elements; None where they are too large by now."""
        self._read += sum(item.tensor.nbytes or 0 for item in inputs if item.tensor is not None)
        return None if self._read > _MOST_BYTES else [item.value for item in self._lineage.inputs(row)]


def _only_at(position: int, where: PartIndex, arrays: Sequence[Array | None]) -> tuple[Part | None, ...]:
    """What is `where` says in the input at `position`, and nothing of the others."""
    return tuple(part_at(array, where) if at == position else None for at, array in enumerate(arrays))


def _shaped(item: InputSeen) -> Array | None:
    """An array of the shape of an input, in place of its value, which need not be read."""
    return None if item.shape is None else np.broadcast_to(np.False_, item.shape)


def _way_of_nothing(lineage: Lineage, row: int) -> dict[str, int]:
    """As `element_way`, of a tensor without elements: through the one input that has none, such as the indices."""
    way: dict[str, int] = {}
    while (node := lineage.node(row)) is not None and node.name not in way and len(way) < _MOST_STEPS:
        places = lineage.places(row)
        empty = [position for position, item in enumerate(places) if item.shape is not None and 0 in item.shape]
        if len(empty) != 1:
            break
        way[node.name] = empty[0]
        further = places[empty[0]].index
        if further is None:
            break
        row = further
    return way


def _chosen(
    op_type: str,
    parts: Sequence[Part | None],
    computed: Sequence[int],
    inputs: Sequence[InputSeen],
    negative: bool,
) -> int | None:
    """The position of the input that made the element of which these are the `parts`; None where that is not known.

    The question is what made it so large or small, or, where it says so, `negative`.
    `computed` are the positions of those of the `inputs` that are no numbers which the program wrote.
    """
    if op_type in REDUCTIONS | ACCUMULATIONS:
        return 0 if parts and parts[0] is not None else None
    if op_type in SELECTS:
        condition = parts[0] if parts else None
        if condition is None or condition.value.size != 1 or len(parts) != 3:
            return None
        branch = 1 if bool(condition.value.reshape(-1)[0]) else 2
        return branch if branch in computed else 0
    if op_type in JOINS:
        return next((position for position, part in enumerate(parts) if part is not None), None)
    if len({inputs[position].name for position in computed}) < 2:  # as in x * x
        return computed[0] if computed else None
    if op_type in _EXTREMES:
        return _larger(parts, computed, _EXTREMES[op_type])
    if op_type == "Mul" and negative:
        return _negative(parts, computed)
    if op_type == "Mul":
        found = _dominant(computed, [_distance_from_one(parts[position]) for position in computed])
        return _negative(parts, computed, _LARGE) if found is None else found
    if op_type in SUMS | LONG_SUMS:
        found = _dominant(computed, [_size(parts[position]) for position in computed])
        return _negative_term(parts, computed) if found is None and op_type != "Sub" else found
    if op_type in MATMULS and len(parts) == 2:
        sizes = [_largest(parts[position]) for position in computed]
        if sizes.count(0.0) == 1:
            return computed[sizes.index(0.0)]
        # Of small factors none stands out.
        return _dominant(computed, sizes) if max(sizes) > _LARGE else None
    return None


def _is_written(item: InputSeen, lineage: Lineage) -> bool:
    """Whether an input is a number that the program wrote: where it runs op by op, that comes in as data does."""
    if maker_of(item.node, lineage) is Maker.CONSTANT:
        return True
    return item.node is not None and item.node.op_type in INPUTS and item.shape == ()


def _dominant(positions: Sequence[int], weights: Sequence[float]) -> int | None:
    """That of the `positions` whose weight is far larger than the others; None if none is, or one is not known."""
    first = max(range(len(weights)), key=lambda at: weights[at])
    others = [weight for at, weight in enumerate(weights) if at != first]
    return positions[first] if all(weights[first] > _DOMINATES * weight for weight in others) else None


def _larger(parts: Sequence[Part | None], positions: Sequence[int], sign: int) -> int | None:
    """The position of the larger of two numbers, or with -1 as `sign` of the smaller one; None if they are equal."""
    numbers = [sign * _number(parts[position]) for position in positions]
    best = max(numbers)
    return positions[numbers.index(best)] if numbers.count(best) == 1 and not np.isnan(numbers).any() else None


def _negative(parts: Sequence[Part | None], positions: Sequence[int], largest: float = float("inf")) -> int | None:
    """The position of the one factor that made a product negative, of numbers up to `largest`; None for none."""
    numbers = [_number(parts[position]) for position in positions]
    below = [position for position, number in zip(positions, numbers, strict=True) if number < 0]
    return below[0] if len(below) == 1 and all(abs(number) <= largest for number in numbers) else None


def _negative_term(parts: Sequence[Part | None], positions: Sequence[int]) -> int | None:
    """The position of the one term that made a sum negative; None where that is not known."""
    terms = [_number(parts[position]) for position in positions]
    below = [position for position, term in zip(positions, terms, strict=True) if term < 0]
    return below[0] if len(below) == 1 and sum(terms) < 0 else None


def _distance_from_one(part: Part | None) -> float:
    """How far a factor changes a product, in powers of 10; infinitely far for 0."""
    size = _size(part)
    return float("inf") if size == 0 else abs(math.log10(size))


def _largest(part: Part | None) -> float:
    """The largest magnitude in `part`; NaN where that is not known."""
    if part is None or not part.value.size or not is_inexact(part.value.dtype):
        return float("nan")
    return float(np.max(np.abs(in_double(part.value))))


def _asks_of_sign(op_type: str, negative: bool | None) -> bool:
    """Whether it counts that what an op computed with is negative, where the question is why its result is."""
    return negative is not None and (op_type in _NOT_OF_NEGATIVE or (negative and op_type not in MATMULS))


def _may_be_negative(part: Part) -> bool:
    """Whether `part` holds numbers below 0; true of one that was only moved, whose values are not read."""
    if part.value.dtype.kind == "b":
        return True
    return part.value.dtype.kind != "c" and is_inexact(part.value.dtype) and bool((in_double(part.value) < 0).any())


def _number(part: Part | None) -> float:
    """The one element of `part`; NaN for what is no single real number, or was not seen."""
    if part is None or part.value.size != 1 or not is_inexact(part.value.dtype) or part.value.dtype.kind == "c":
        return float("nan")
    return float(in_double(part.value.reshape(-1)[0]))


def _size(part: Part | None) -> float:
    """The magnitude of the one element of `part`; NaN for what is no single number, or was not seen."""
    if part is None or part.value.size != 1 or not is_inexact(part.value.dtype):
        return float("nan")
    return float(np.abs(in_double(part.value.reshape(-1)[0])))
