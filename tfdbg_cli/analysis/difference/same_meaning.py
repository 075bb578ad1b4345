"""Axes and shapes that two programs write in two ways and that mean the same: axis -1, and the last one by number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tfdbg_cli.analysis.graph.nodes.neighbours import neighbours_of
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.ops.kinds import LITERALS, SHAPE_INPUT

_AXES: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum", "ReverseV2"), (1, 0)),
    **dict.fromkeys(("ArgMax", "ArgMin", "Cumprod", "Cumsum"), (1, 0)),
    "GatherV2": (2, 0),
    "Split": (0, 1),
    "SplitV": (2, 0),
}
"""Ops that take axes, in any order: at which input, and at which stands what has them."""

_MOST_AXES = 254  # that a tensor of TensorFlow can have

_Meaning = frozenset[tuple[object, ...]]


def means_the_same(runs: tuple[Run, Run], rows: tuple[int, int]) -> bool:
    """Whether two tensors are constants that say the same to all that read them, however they are written.

    Programs differ so where one counts an axis from the end, or leaves a length of a shape to TensorFlow.
    """
    tensors = [run.tensors[row] for run, row in zip(runs, rows, strict=True)]
    if not all(tensor.op_type in LITERALS for tensor in tensors):
        return False
    one, two = (_meaning(run, row) for run, row in zip(runs, rows, strict=True))
    return one is not None and one == two


def _meaning(run: Run, row: int) -> _Meaning | None:
    """What the readers of a constant understand; None where one takes it for something else, or is not known."""
    value, node = run.tensors.value(row), run.graph.find(run.tensors[row].node)
    if isinstance(value, NoValue) or value.dtype.kind != "i" or value.size > _MOST_AXES or node is None:
        return None
    found: set[tuple[object, ...]] = set()
    for reader, place in _readers(run, node):
        if SHAPE_INPUT.get(reader.op_type) == place:
            shapes = {run.tensors[at].shape for at in run.tensors.named(reader.name, 0)}
            found.update(("shape", shape) for shape in shapes)
        elif _AXES.get(reader.op_type, (None,))[0] == place:
            read = reader.inputs[_AXES[reader.op_type][1]]
            ranks = {run.tensors[at].shape for at in run.tensors.named(read.node, read.slot)}
            found.update(("axes", shape and _counted(value.reshape(-1).tolist(), len(shape))) for shape in ranks)
        else:
            return None
    return None if not found or any(meant[1] is None for meant in found) else frozenset(found)


def _readers(run: Run, node: Node) -> Iterator[tuple[Node, int]]:
    """Who reads `node`, each with the place of the input."""
    for edge in neighbours_of(run.graph).outputs(node):
        if edge.node is not None:
            for place, read in enumerate(edge.node.inputs):
                if read.node == node.name:
                    yield edge.node, place


def _counted(axes: list[int], rank: int) -> tuple[int, ...] | None:
    """Axes from 0 on, in their order; None where the tensor has not so many."""
    if not all(-rank <= axis < rank for axis in axes):
        return None
    return tuple(sorted(axis % rank for axis in axes))
