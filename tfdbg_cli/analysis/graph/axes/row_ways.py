"""Some rows of an op's output, and the rows of its inputs that made them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array, NoValue, known_array
from tfdbg_cli.model.whole_numbers import whole_number

_MOST_BYTES = 1 << 26  # of a value that is read to see where its elements were
WHOLE = -1  # in place of an axis: every element, as of an item of a list


@dataclass(frozen=True)
class RowWay:
    """Rows of one input: its position, the axis, and which of them.

    `inner` says that the axis is an inner one of several that became one, or the whole of which an inner part became
    one: rows of a batch are seldom there, and are looked for where no other way leads to them.
    """

    position: int
    axis: int
    rows: Array
    inner: bool = False


def _not_known(position: int) -> Array | None:
    return None


@dataclass(frozen=True)
class RowSet:
    """Some rows of an op's output along `axis`, with what is known of the op.

    `inputs` are the shapes of the inputs, None for one that was not seen; `value` gives the value of one that holds
    whole numbers, and `output` that of an output of the op by its slot. `elements` gives the value of any input, and
    `made` that of the output, where they may be read.
    """

    node: Node
    slot: int
    shape: Shape
    axis: int
    rows: Array
    inputs: Sequence[Shape | None]
    value: Callable[[int], Array | None]
    output: Callable[[int], Array | None] = _not_known
    elements: Callable[[int], Array | None] = _not_known
    made: Callable[[], Array | None] = lambda: None

    def of(self, position: int) -> Shape | None:
        """The shape of one input, None when there is none, or nobody knows."""
        return self.inputs[position] if -len(self.inputs) <= position < len(self.inputs) else None

    def number(self, position: int) -> int | None:
        """A scalar input such as an axis."""
        found = self.value(position) if -len(self.inputs) <= position < len(self.inputs) else None
        return int(found.reshape(-1)[0]) if found is not None and found.size else None

    def same(self, position: int, axis: int | None = None) -> list[RowWay]:
        """The same rows of the input at `position` (along `axis`, if it is another one), if it has as many."""
        shape, along = self.of(position), self.axis if axis is None else axis
        fits = shape is not None and 0 <= along < len(shape) and shape[along] == self.shape[self.axis]
        return [RowWay(position, along, self.rows)] if fits else []

    def attribute(self, name: str) -> int:
        """A whole number among the attributes of the op; 0 without it."""
        text = self.node.attributes.get(name, "0").strip()
        number = whole_number(text.removeprefix("-")) or 0
        return -number if text.startswith("-") else number


def row_set(run: Run, lineage: Lineage, index: int, node: Node, axis: int, rows: Array) -> RowSet:
    """`rows`, along `axis`, of the tensor at `index`, an output of `node`."""
    tensor, inputs = run.tensors[index], lineage.places(index)

    def value(position: int) -> Array | None:
        return whole_numbers(run, inputs, position)

    def output(slot: int) -> Array | None:
        return output_numbers(run, node, tensor.execution, slot)

    def elements(position: int) -> Array | None:
        item = inputs[position] if position < len(inputs) else None
        if item is None or item.index is None:
            return None if item is None else item.value
        small = (run.tensors[item.index].nbytes or 0) <= _MOST_BYTES
        return known_array(run.tensors.value(item.index)) if small else None

    def made() -> Array | None:
        return known_array(run.tensors.value(index)) if (tensor.nbytes or 0) <= _MOST_BYTES else None

    shapes = [item.shape for item in inputs]
    return RowSet(node, tensor.slot, tensor.shape or (), axis, rows, shapes, value, output, elements, made)


def output_numbers(run: Run, node: Node, execution: int, slot: int) -> Array | None:
    """The whole numbers of the output at `slot` of `node`, as it ran then; None where there are none."""
    made = (row for row in run.tensors.named(node.name, slot) if run.tensors[row].execution == execution)
    value = next((run.tensors.value(row) for row in made), None)
    return None if value is None or isinstance(value, NoValue) or value.dtype.kind not in "iub" else value


def whole_numbers(run: Run, inputs: Sequence[InputSeen], position: int) -> Array | None:
    """The value of one of the `inputs` of an op, such as an axis; None where there is none, or no whole numbers.

    Truths are such, too: they choose branches.
    """
    if not -len(inputs) <= position < len(inputs):
        return None
    item = inputs[position]
    value = item.value if item.index is None else run.tensors.value(item.index)
    return None if value is None or isinstance(value, NoValue) or value.dtype.kind not in "iub" else value
