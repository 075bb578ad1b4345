"""Vectors that are given to a program and are no batch: one record, or numbers of the model such as one a class."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tfdbg_cli.analysis.graph.making.lineage import Lineage, variable_of
from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE, MATMUL, flag
from tfdbg_cli.analysis.graph.nodes.feeds import fed_array, given_arrays
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import GATHERS, RESHAPES, TRUTHS

_MOST_PLACES = 200
_ONE_BY_ONE = ELEMENTWISE | TRUTHS
_Place = tuple[TensorName, int]  # a tensor, and the axis of it along which the elements of the vector stand


def is_lone_vector(run: Run, lineage: Lineage, vector: TensorName, node: Node, shape: Shape | None) -> bool:
    """Whether elements of `vector`, which `node` gives, stand where features do: beside weights, or within rows.

    So it is of the state of one game that becomes a row, `[1, N]`, by which a variable is multiplied, and of a number
    for each class that is added to rows of scores. Where something else with rows came in that has as many of them,
    it is taken for a part of that batch, as are labels beside several predictions of each. None is a vector, either,
    that turn after turn of a loop is given and takes single numbers out of, while data of another length comes anew.
    """
    if shape is None or len(shape) != 1 or shape[0] < 2:
        return False
    if is_one_a_turn(run, vector, shape):
        return True
    walk = _Walk(run, lineage, lineage.graph_of(node), shape[0])
    return any(map(walk.is_of_features, walk.places(vector))) and not _has_rows_beside(run, node, shape[0])


def is_one_a_turn(run: Run, vector: TensorName, shape: Shape | None) -> bool:
    """Whether turns of a loop take single numbers out of `vector`, which all are given, alone of its length."""
    if vector.node not in run.call.unchanged or shape is None or len(shape) != 1:
        return False
    lengths = [array.shape[0] for array in given_arrays(run).values() if array is not None and array.ndim]
    readers = {reader.name: reader for reader, _ in run.graph.consumers(vector.node)}.values()
    return lengths.count(shape[0]) == 1 and all(_takes_numbers(run, reader, vector) for reader in readers)


def _takes_numbers(run: Run, reader: Node, vector: TensorName) -> bool:
    """Whether `reader` looks numbers of `vector` up, or takes one out of it."""
    if reader.inputs[0] != vector:
        return False
    rows = run.tensors.named(reader.name)
    return reader.op_type in GATHERS or (
        reader.op_type == "StridedSlice" and bool(rows) and run.tensors[rows[0]].shape == ()
    )


class _Walk:
    """Where the `size` elements of a vector get to, one by one."""

    def __init__(self, run: Run, lineage: Lineage, graph: Graph, size: int) -> None:
        self._run = run
        self._lineage = lineage
        self._graph = graph
        self._size = size

    def places(self, vector: TensorName) -> Iterator[_Place]:
        """All tensors that are the vector, in whatever shape, or computed of it alone."""
        return reached([(vector, 0)], self._further, most=_MOST_PLACES)

    def is_of_features(self, place: _Place) -> bool:
        """Whether an op makes features of the elements at `place`."""
        return any(self._is_multiplied(*read) or self._is_in_rows(*read) for read in self._reads(place))

    def _reads(self, place: _Place) -> Iterator[tuple[Node, int, int]]:
        """The readers of a tensor, each with the position of the input, and the axis of the vector."""
        tensor, axis = place
        for reader, _ in self._graph.consumers(tensor.node):
            for position, read in enumerate(reader.inputs):
                if read == tensor:
                    yield reader, position, axis

    def _further(self, place: _Place) -> Iterator[_Place]:
        for reader, _, _ in self._reads(place):
            made = TensorName(reader.name, 0)
            shape = self._shape(made)
            keeps = reader.op_type in _ONE_BY_ONE | RESHAPES | {"Pack"}
            if keeps and shape is not None and self._size in shape and math.prod(shape) == self._size:
                yield made, shape.index(self._size)

    def _is_multiplied(self, reader: Node, position: int, axis: int) -> bool:
        """Whether it is multiplied by a variable that has something for each element."""
        shape = self._shape(reader.inputs[position])
        edges = self._lineage.edges(reader)
        if reader.op_type not in MATMUL or position > 1 or len(edges) < 2 or shape is None or len(shape) < 2:
            return False
        weights = edges[1 - position].node
        flipped = any(flag(reader, name) for name in (("transpose_a", "adj_x"), ("transpose_b", "adj_y"))[position])
        summed = len(shape) - (1 if (position == 0) != flipped else 2)
        return axis == summed and weights is not None and variable_of(weights, self._lineage) is not None

    def _is_in_rows(self, reader: Node, position: int, axis: int) -> bool:
        """Whether each row of something else, of which there are more or fewer, has an element for each of its."""
        shape = self._shape(reader.inputs[position])
        if reader.op_type not in _ONE_BY_ONE or shape is None:
            return False
        for at, read in enumerate(reader.inputs):
            beside = self._shape(read)
            along = 0 if beside is None else axis + len(beside) - len(shape)
            if at != position and beside is not None and along > 0 and beside[along] == self._size:
                return beside[0] not in (1, self._size)
        return False

    def _shape(self, tensor: TensorName) -> Shape | None:
        """The shape of `tensor` as the run made it first; None where it was not seen."""
        rows = self._run.tensors.named(tensor.node, tensor.slot)
        return self._run.tensors[rows[0]].shape if rows else None


def _has_rows_beside(run: Run, node: Node, size: int) -> bool:
    """Whether as many rows, of more than one number, were given or delivered beside what `node` gives."""
    given = [fed.shape for fed in map(fed_array, run.call.given.values()) if fed is not None]
    delivered = [run.tensors[row].shape for row in run.tensors.named(node.name)]
    return any(shape is not None and len(shape) > 1 and shape[0] == size for shape in (*given, *delivered))
