"""A batch that came in as a sparse or ragged tensor: which of its rows the stored elements belong to.

Such a tensor comes in as several: the elements of all rows, and beside them indices, or where each row begins. Which
those are is told by names and places, and believed if the numbers fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.analysis.graph.axes.stored_axes import are_splits, row_of_each, rows_of_indices, rows_of_splits
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.analysis.graph.nodes.feeds import fed_elements, fed_value, feed_name
from tfdbg_cli.analysis.graph.nodes.neighbours import Edge
from tfdbg_cli.model.graph import GIVEN_BY, Node
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.model.walks import depth_first
from tfdbg_cli.ops.kinds import INPUTS

# Ops that take such a tensor out of what a data set delivers (sparse_ops.cc, ragged_conversion_ops.cc).
DELIVERIES = frozenset({"DeserializeSparse", "RaggedTensorFromVariant"})
_NUMBERED = re.compile(r"^(?P<stem>.+?)(?:_(?P<number>\d+))?$")
_LEAF = re.compile(r"^(?P<scope>.*/)?(?P<leaf>values|flat_values)$")
_SPLITS = re.compile(r"^(?P<scope>.*/)row_splits_(?P<level>\d+)$")
_DEEPEST = 10  # ragged axes
_MOST_NODES = 300


@dataclass(frozen=True)
class StoredRows:
    """Rows of a sparse or ragged batch of `size`, whose elements came in as `source`; the row of each element."""

    rows: Array
    size: int
    source: TensorName
    of_elements: Array


class StoredBatch:
    """The sparse and ragged tensors among what `run` was given."""

    def __init__(self, run: Run, lineage: Lineage) -> None:
        self._run = run
        self._lineage = lineage

    def rows(self, node: Node, slot: int, stored: Array) -> StoredRows | None:
        """The rows that the elements `stored` belong to, which came in as output `slot` of `node`.

        None when that is no part of a sparse or ragged tensor.
        """
        name = TensorName(node.name, slot)
        if node.op_type == "DeserializeSparse":
            parts = [self._shown(TensorName(node.name, i)) for i in (0, 2)]
            return self._sparse(name, parts[0], parts[1], stored) if slot == 1 else None
        if node.op_type == "RaggedTensorFromVariant":
            return self._ragged(name, [self._shown(TensorName(node.name, i)) for i in range(slot)], stored)
        before, behind = self._beside(node)
        beside = (before[-1] if before else None, behind[0] if behind else None)
        # Indices, elements and shape as arguments; shape, elements and indices as placeholders without a name.
        found = self._sparse(name, *beside, stored) or self._sparse(name, *beside[::-1], stored)
        found = found or self._read_as_sparse(name, stored) or self._made_as_sparse(node, name, stored)
        for depth in range(min(len(behind), _DEEPEST), 0, -1):
            found = found or self._ragged(name, behind[:depth], stored)
        return found

    def rows_of_segments(self, node: Node, segments: int, rows: Array) -> StoredRows | None:
        """The rows of a ragged batch that became `rows` of an op that puts `segments` segments together.

        None unless one ragged tensor alone tells which elements the op puts together.
        """
        told = (
            self._delivered(part, segments, rows) if part.op_type in DELIVERIES else self._split(part, segments, rows)
            for part in self._behind(node)
        )
        found = {str(each.source): each for each in told if each is not None}
        return next(iter(found.values())) if len(found) == 1 else None

    def is_row_splits(self, node: Node) -> bool:
        """Whether `node` stands for numbers that say where the rows of a ragged tensor begin: these are no rows."""
        splits = self._fed(node.name)
        if splits is None or splits.ndim != 1 or splits.dtype.kind not in "iu" or len(splits) < 2:
            return False
        return self._split(node, len(splits) - 1, np.zeros(0, np.int64)) is not None

    def _behind(self, node: Node) -> list[Node]:
        """Arguments of the run that may hold the indices by which `node` puts elements of its first input together.

        They are found behind its other inputs.
        """

        def makers(edges: Iterable[Edge]) -> list[Node]:
            return [edge.node for edge in edges if edge.node is not None]

        def read_by(maker: Node) -> list[Node]:
            # An argument that eager ops made: it is what the op learns from, and not what those were given.
            return [] if GIVEN_BY in maker.attributes else makers(edges(maker))

        edges = self._lineage.edges
        behind = depth_first(makers(edges(node)[1:]), read_by, most=_MOST_NODES)
        return [
            maker
            for maker in behind
            if maker.op_type in INPUTS or maker.op_type in DELIVERIES or GIVEN_BY in maker.attributes
        ]

    def _delivered(self, node: Node, segments: int, rows: Array) -> StoredRows | None:
        """The same as `_split` gives, of row splits that `node` takes out of what a data set delivered."""
        parts: list[Array] = []
        while len(parts) <= _DEEPEST and (part := self._shown(TensorName(node.name, len(parts)))) is not None:
            parts.append(part)
        if node.op_type != "RaggedTensorFromVariant" or len(parts) < 2:
            return None
        splits, values = parts[:-1], parts[-1]
        sizes = [len(one) - 1 for one in splits[1:]] + [len(values) if values.ndim else -1]
        if segments not in [len(one) - 1 for one in splits] or not all(map(are_splits, splits, sizes)):
            return None
        level = next(at for at, one in enumerate(splits) if len(one) - 1 == segments)
        return _of_level(TensorName(node.name, len(splits)), splits, level, len(values), rows)

    def _split(self, node: Node, segments: int, rows: Array) -> StoredRows | None:
        """The rows of the batch behind `rows` of a ragged axis that `node`, if it is row splits, divides."""
        splits = self._fed(node.name)
        if splits is None or splits.shape != (segments + 1,) or not are_splits(splits, int(splits[-1])):
            return None
        before, names = self._beside(node)[0], self._names_before(node)
        outer: list[Array] = []
        size, name = segments, node.name
        level = _SPLITS.match(node.name)
        if level is not None:  # as in a session, by names alone
            scope = level["scope"]
            names = [f"{scope}flat_values", *(f"{scope}row_splits_{i}" for i in range(int(level["level"])))]
            before = [self._fed(one) for one in names]
            name = names[0]
        for part, other in zip(before[::-1], names[::-1], strict=True):
            if part is None or not are_splits(part, size):
                name = other
                break
            outer.insert(0, part)
            size = len(part) - 1
        values = TensorName(name, 0)
        length = self._length(values)
        if length is None or length != splits[-1]:
            return None
        return _of_level(values, [*outer, splits], len(outer), length, rows)

    def _sparse(
        self, name: TensorName, indices: Array | None, shape: Array | None, stored: Array
    ) -> StoredRows | None:
        if indices is None or shape is None or indices.ndim != 2 or shape.shape != indices.shape[1:]:
            return None
        if shape.dtype.kind not in "iu" or (indices >= shape).any():
            return None
        rows = rows_of_indices(indices, stored, int(shape[0]))
        return None if rows is None else StoredRows(rows, int(shape[0]), name, indices[:, 0])

    def _read_as_sparse(self, name: TensorName, stored: Array) -> StoredRows | None:
        """The rows by an op that reads the elements behind their indices and before their shape.

        So do ops of sparse tensors; ScatterNd does it, too, of which the elements are a batch of their own.
        """
        for reader, _ in self._run.graph.consumers(name.node):
            if "Sparse" not in reader.op_type:
                continue
            for before, read, behind in zip(reader.inputs, reader.inputs[1:], reader.inputs[2:], strict=False):
                if read == name:
                    found = self._sparse(name, self._held(before), self._held(behind), stored)
                    if found is not None and len(found.of_elements) == self._length(name):
                        return found
        return None

    def _made_as_sparse(self, node: Node, name: TensorName, stored: Array) -> StoredRows | None:
        """The rows by what the same line of the program made to be fed as the indices and the shape."""
        place = made_at(self._run.tracebacks, node.name)
        if place is None:
            return None
        length = self._length(name)
        fed = ((self._run.graph.find(tensor_name_of(text).node), text) for text in self._run.call.feeds)
        beside = [
            value
            for other, text in fed
            if other is not None and made_at(self._run.tracebacks, other.name) == place
            if (value := self._fed(tensor_name_of(text).node)) is not None and value.dtype.kind in "iu"
        ]
        shapes = [value for value in beside if value.ndim == 1]
        for indices in beside:
            if indices.ndim == 2 and len(indices) == length:
                found = [one for shape in shapes if (one := self._sparse(name, indices, shape, stored)) is not None]
                if len(found) == 1:
                    return found[0]
        return None

    def _ragged(self, name: TensorName, splits: Sequence[Array | None], stored: Array) -> StoredRows | None:
        """Rows by `splits`, the outermost first."""
        length = size = self._length(name)
        rows = stored
        known: list[Array] = []
        for one in reversed(splits):
            if one is None or size is None or not are_splits(one, size):
                return None
            known.insert(0, one)
            rows, size = rows_of_splits(one, rows), len(one) - 1
        if size is None or length is None or not splits:
            return None
        return StoredRows(rows, size, name, row_of_each(known, length))

    def _length(self, name: TensorName) -> int | None:
        """How many elements or rows a tensor has; it may hold texts."""
        value = self._held(name)
        if value is None:  # texts
            value = fed_elements(self._run.call.feeds, feed_name(self._run.graph.find(name.node)) or name)
        return None if value is None or not value.ndim else len(value)

    def _beside(self, node: Node) -> tuple[list[Array | None], list[Array | None]]:
        """What came in beside `node`, as parts of the same argument: before it and behind it, in order."""
        leaf = _LEAF.match(node.name)
        if leaf is not None:  # of a session: tf.compat.v1.sparse_placeholder, tf.compat.v1.ragged.placeholder
            scope = leaf["scope"] or ""
            if leaf["leaf"] == "values":
                return [self._fed(f"{scope}indices")], [self._fed(f"{scope}shape")]
            splits = [self._fed(f"{scope}row_splits_{i}") for i in range(_DEEPEST)]
            return [], [one for one in splits if one is not None]
        before = [self._fed(name) for name in self._names_before(node)]
        behind: list[Array | None] = []
        stem, number = self._numbered(node.name)
        for i in range(1, _DEEPEST + 1):
            value = self._fed(f"{stem}_{number + i}")
            if value is None:
                break
            behind.append(value)
        return before, behind

    def _names_before(self, node: Node) -> list[str]:
        stem, number = self._numbered(node.name)
        first = max(number - _DEEPEST, 0)
        return [f"{stem}_{i}" if i else stem for i in range(first, number)]

    def _numbered(self, name: str) -> tuple[str, int]:
        match = _NUMBERED.match(name)
        return (match["stem"], int(match["number"] or 0)) if match is not None else (name, 0)

    def _fed(self, name: str) -> Array | None:
        node = self._run.graph.find(name)
        return fed_value(self._run.call.feeds, feed_name(node) or TensorName(name, 0))

    def _held(self, name: TensorName) -> Array | None:
        """The value of a tensor that was fed, or that the run shows."""
        fed = self._fed(name.node) if name.slot == 0 else None
        return self._shown(name) if fed is None else fed

    def _shown(self, name: TensorName) -> Array | None:
        rows = self._run.tensors.named(name.node, name.slot)
        value = self._run.tensors.value(rows[-1]) if rows else None
        return None if value is None or isinstance(value, NoValue) else value


def _of_level(source: TensorName, splits: Sequence[Array], level: int, stored: int, rows: Array) -> StoredRows:
    """The rows of the batch behind `rows` of the ragged axis that `splits[level]` divide, the outermost first."""
    for one in reversed(splits[:level]):
        rows = rows_of_splits(one, rows)
    return StoredRows(np.unique(rows), len(splits[0]) - 1, source, row_of_each(splits, stored))
