"""Which inputs of an op made its bad elements, told by the elements where one of each makes one of the result.

A distance matrix with infinity on its diagonal is bad, and so is its reciprocal where two points are the same: but
not because of the diagonal, whose reciprocal is 0. A tf.where is bad by the side that it takes there, and not by the
other one.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.analysis.graph.making.begun_elements import BY_CHANNEL, begun_elements, spreads_to
from tfdbg_cli.analysis.graph.making.fused_ops import as_written
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE
from tfdbg_cli.analysis.origin.passed_by_where import taken
from tfdbg_cli.analysis.watch.verdicts import BadMask, alike
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import Array, NoValue, known_array
from tfdbg_cli.ops.effects import takes_handle, updates_variable
from tfdbg_cli.ops.kinds import ASSIGNMENTS, PUTS_INTO, SELECTS


class ElementWays:
    """Asks of the tensors of `run` which of their inputs are bad where they are bad themselves, by `mask`."""

    def __init__(self, run: Run, lineage: Lineage, mask: BadMask) -> None:
        self._run = run
        self._lineage = lineage
        self._mask = mask
        self._known: dict[int, frozenset[int]] = {}  # by row, the positions of inputs without a part in it

    def leading(self, index: int, inputs: Sequence[InputSeen]) -> list[InputSeen]:
        """`inputs` of the bad tensor at `index`, without those of which no bad element made one of it."""
        known = self._known.get(index)
        if known is None:
            known = self._known[index] = self._without_part(index, inputs)
        return [item for position, item in enumerate(inputs) if position not in known] if known else list(inputs)

    def begun(self, index: int, inputs: Sequence[InputSeen]) -> Array | None:
        """The elements that are bad in the tensor at `index`, and in none of its inputs; None where it has none.

        So it is, too, where that cannot be told, since its op is not elementwise.
        """
        node, value = self._lineage.node(index), self._run.tensors.value(index)
        if node is None or isinstance(value, NoValue):
            return None
        given = [None if (seen := self._value(item)) is None else self._mask(seen) for item in inputs]
        return begun_elements(node, self._mask(value), given)

    def _without_part(self, index: int, inputs: Sequence[InputSeen]) -> frozenset[int]:
        node = self._lineage.node(index)
        if node is not None and node.op_type == UPDATED_VARIABLE:
            return self._written_over(index, inputs) | self._held_elsewhere(index, inputs)
        if node is not None and _changes_its_first(node.op_type):
            return self._held_elsewhere(index, inputs)
        op_type = None if node is None else as_written(node).op_type
        if op_type not in ELEMENTWISE or op_type in BY_CHANNEL:
            return frozenset()
        value = self._run.tensors.value(index)
        if isinstance(value, NoValue):
            return frozenset()
        bad = self._mask(value)
        return frozenset(
            position
            for position, item in enumerate(inputs)
            if (given := self._value(item)) is not None
            and _lies_elsewhere(self._mask(given), self._taken_of(position, op_type, inputs, bad))
        )

    def _taken_of(self, position: int, op_type: str, inputs: Sequence[InputSeen], bad: Array) -> Array:
        """Those of the `bad` elements of an op that are of its input at `position`; all, if it is no tf.where."""
        if op_type not in SELECTS or position == 0:
            return bad
        condition = self._value(inputs[0])
        chosen = None if condition is None else taken(op_type, position, condition, bad.shape)
        return bad if chosen is None else bad & chosen

    def _held_elsewhere(self, index: int, inputs: Sequence[InputSeen]) -> frozenset[int]:
        """The position of what `index` is with other elements put in, if more is bad than was; else none.

        That is a variable of the old kind, or the first input of an op that gives such a copy. What was bad there is
        bad still, but made nothing of what is new.
        """
        value, held = self._run.tensors.value(index), self._value(inputs[0]) if inputs else None
        if isinstance(value, NoValue) or held is None or held.shape != value.shape:
            return frozenset()
        return frozenset({0} if (self._mask(value) & ~alike(held, value)).any() else ())

    def _written_over(self, index: int, inputs: Sequence[InputSeen]) -> frozenset[int]:
        """The positions of what was assigned to the variable at `index`, and of which nothing bad is there now."""
        value = self._run.tensors.value(index)
        if isinstance(value, NoValue):
            return frozenset()
        assigned = [
            (position, given)
            for position, item in enumerate(inputs)
            if position and is_only_assigned(self._run.graph, item.name) and (given := self._value(item)) is not None
        ]
        return frozenset(
            position
            for position, given in assigned
            if given.shape == value.shape and not (self._mask(given) & alike(given, value)).any()
        )

    def _value(self, item: InputSeen) -> Array | None:
        if item.index is None or item.value is not None:
            return item.value
        return known_array(self._run.tensors.value(item.index))


def is_only_assigned(graph: Graph, name: TensorName) -> bool:
    """Whether the updates to which the tensor called `name` is given leave it in their variable as it is."""
    readers = (reader.op_type for reader, slot in graph.consumers(name.node) if slot == name.slot)
    updates = [op_type for op_type in readers if op_type != UPDATED_VARIABLE and updates_variable(op_type)]
    return bool(updates) and ASSIGNMENTS.issuperset(updates)


def _changes_its_first(op_type: str) -> bool:
    """Whether ops of that type give their first input with some of its elements changed."""
    return op_type in PUTS_INTO or (updates_variable(op_type) and not takes_handle(op_type))


def _lies_elsewhere(given: Array, bad: Array) -> bool:
    """Whether elements are marked in `given`, and none of them, spread as NumPy does it, meets one of `bad`."""
    if given.ndim > bad.ndim or not given.any():
        return False
    return spreads_to(given.shape, bad.shape) and not (given & bad).any()
