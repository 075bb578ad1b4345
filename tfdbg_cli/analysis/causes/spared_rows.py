"""Recognizes an infinity that is not to blame for a NaN of its row: other rows of the op have it, too, without harm.

Through which ops a mask passes before a softmax, or what stands in the place of one, no table can list. The run
itself tells: where an op makes NaN of such infinities in some groups of its elements, such as the rows of a softmax,
and finite numbers of them in others, it is something else that sets the former apart.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.analysis.causes.op_groups import OpGroups, op_groups
from tfdbg_cli.analysis.graph.flow.branches import was_left_out
from tfdbg_cli.analysis.graph.making.begun_elements import BY_CHANNEL, begun_elements, spreads_to
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE, MISFIT
from tfdbg_cli.analysis.watch.outcome import outcome_of, unread
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.dtypes import HANDLES, in_double
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.model.walks import reached as all_reached
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.intended_infinities import LOOKS
from tfdbg_cli.ops.kinds import CALLS, CROSS_ENTROPIES, SELECTS

_MOST_TENSORS = 1_000


@dataclass(frozen=True)
class SparedRows:
    """`end` is the op that made finite numbers of the infinities in some rows; `carriers` are the tensors before it.

    These are places in the run: of tensors that hold nothing that is not finite but those infinities.
    """

    end: str
    carriers: frozenset[int]


class _Lost(Exception):  # noqa: N818
    """The rows cannot be told apart any more, or all of them went bad."""


def spared_rows(
    run: Run, lineage: Lineage, bad: Callable[[int], bool], name: TensorName, value: Array, *, masks: bool
) -> SparedRows | None:
    """The rows that take the infinities of `value`, called `name`, without harm, while others go bad.

    None if there are none, or nobody can tell. `bad` says of the tensors of `run` whether they are not finite.
    `masks` says that the infinities look like those of a mask; of others only a softmax is asked.
    """
    try:
        return _Search(run, lineage, bad, name, value, masks).found()
    except (_Lost, *MISFIT):
        return None


class _Search:
    def __init__(
        self, run: Run, lineage: Lineage, bad: Callable[[int], bool], name: TensorName, value: Array, masks: bool
    ) -> None:
        self._run, self._lineage, self._bad, self._source, self._masks = run, lineage, bad, name, masks
        self._infinite = np.isinf(value)
        given = unread(run) if run.call.kind is RunKind.EAGER else frozenset()  # the program may have got it
        self._outcome = outcome_of(run.graph, run.call).names(run) | given
        self._followed: dict[int, Array] = {}  # by row, the infinite elements that were made of those of the source
        self._waiting: list[int] = []
        self._carriers: set[int] = set()
        self._handles: set[TensorName] = set()
        self._end = ""
        self._parted = False  # whether some rows went bad, by whatever it was

    def found(self) -> SparedRows | None:
        for row in self._run.tensors.named(self._source.node, self._source.slot):
            value = self._run.tensors.value(row)
            if not isinstance(value, NoValue):
                self._followed[row] = self._begun(row, np.isinf(value))
        met: set[int] = set()
        self._wait_for_readers(self._source)
        while self._waiting:
            index = heapq.heappop(self._waiting)  # in order of time: all that it reads is known
            if index in met:
                continue
            met.add(index)
            if len(met) > _MOST_TENSORS:
                raise _Lost
            self._look_at(index)
        return SparedRows(self._end, frozenset(self._carriers)) if self._end and self._parted else None

    def _begun(self, row: int, infinite: Array) -> Array:
        """Those of the `infinite` elements of the source at `row` that it made itself, and was not given."""
        given = [None if item.value is None else nonfinite_mask(item.value) for item in self._lineage.inputs(row)]
        if not any(marked is not None and marked.any() for marked in given):
            return infinite
        node = self._lineage.node(row)
        begun = None if node is None else begun_elements(node, infinite, given)
        if begun is None:
            raise _Lost
        return begun

    def _wait_for_readers(self, name: TensorName) -> None:
        node = self._run.graph.find(name.node)
        if node is None or name in self._outcome:
            raise _Lost
        graph = self._lineage.graph_of(node)
        for reader, slot in graph.consumers(name.node):
            if slot != name.slot or reader.op_type in LOOKS:
                continue
            rows = self._run.tensors.named(reader.name)
            if not rows and self._leads_nowhere(graph, reader) and not updates_variable(reader.op_type):
                continue
            if not rows:
                raise _Lost  # not seen
            for row in rows:
                heapq.heappush(self._waiting, row)

    def _leads_nowhere(self, graph: Graph, node: Node) -> bool:
        """Whether `node` did not run, or the run shows nothing that depends on it: a gradient nobody asked for."""
        if was_left_out(graph, self._run.tensors, node):
            return True
        behind = all_reached([node.name], lambda name: _readers(graph, name))
        return not any(map(self._run.tensors.named, behind))

    def _comes_to_something(self, node: Node) -> bool:
        """Whether the outcome depends on `node`; on the gradient of a constant, which sessions compute, none does."""
        graph, outcome = self._lineage.graph_of(node), {name.node for name in self._outcome}
        return any(name in outcome for name in all_reached([node.name], lambda name: _readers(graph, name)))

    def _look_at(self, index: int) -> None:
        """See what became of the infinities in the tensor at `index`, which reads a followed one."""
        node, value = self._lineage.node(index), self._run.tensors.value(index)
        if node is None:
            raise _Lost
        if isinstance(value, NoValue):
            self._look_into(index)
            return
        inputs = self._lineage.inputs(index)
        marks = {i: marked for i, item in enumerate(inputs) if (marked := self._infinite_of(item)) is not None}
        if not any(marked.any() for marked in marks.values()):
            takes_out = node.op_type not in CALLS and any(item.name in self._handles for item in inputs)
            if takes_out and nonfinite_mask(value).any():
                raise _Lost  # nobody can tell what was taken out
            return
        if not self._bad(index):
            self._end = self._end or node.name
            return
        nan, infinite = nan_mask(value), np.isinf(value)
        if nan.any() or node.op_type in CROSS_ENTROPIES:
            if not self._comes_to_something(node):
                return
            groups = op_groups(self._run, self._lineage, index, node, inputs, value)
            if groups is None:
                raise _Lost
            self._judge(node, groups, inputs, marks, value)
        reached = _reached(node, value.shape, marks, inputs)
        further = _handed_on(node, infinite, reached)
        if reached is not None and (reached & ~infinite & ~nan).any():
            self._end = self._end or node.name
        if not nan.any() and not (infinite & ~further).any():
            self._carriers.add(index)
        if further.any():
            self._followed[index] = further
            self._wait_for_readers(self._run.tensors[index].name)

    def _look_into(self, index: int) -> None:
        """Go on behind the tensor at `index`, an Optional into which an infinity was put for a gradient."""
        tensor = self._run.tensors[index]
        if tensor.dtype not in HANDLES:
            raise _Lost
        self._handles.add(tensor.name)
        self._wait_for_readers(tensor.name)

    def _judge(
        self, node: Node, groups: OpGroups, inputs: Sequence[InputSeen], marks: Mapping[int, Array], value: Array
    ) -> None:
        """See in which groups of `value`, made by `node`, the infinities in `marks` did harm, in which none."""
        infinite = groups.of_result(np.isinf(value))
        bad = groups.of_result(nan_mask(value))
        losses = node.op_type in CROSS_ENTROPIES
        bad = bad | infinite if losses else bad
        given, others = np.zeros(bad.shape, np.bool_), np.zeros(bad.shape, np.bool_)
        for position, item in enumerate(inputs):
            marked = marks.get(position)
            if marked is not None:
                found = groups.of_input(position, marked)
                if found is None:
                    raise _Lost
                given |= found
            strange = None if item.value is None else nonfinite_mask(item.value) & ~_or_none(marked)
            if strange is not None and strange.any():
                found = groups.of_input(position, strange)
                others |= True if found is None else found
        own, spared = given & bad & ~others, given & ~bad
        if (own & infinite if losses else own).any() and not (self._masks or (groups.shared and not losses)):
            raise _Lost
        if groups.shared and inputs[0].value is not None:
            shares, marked = in_double(inputs[0].value), _or_none(marks.get(0))
            above, closed = groups.of_input(0, np.isposinf(shares) & marked), groups.of_input(0, np.isneginf(shares))
            if above is None or closed is None or (own & above).any():
                raise _Lost  # +inf closes no place
            spared = closed & ~bad if self._masks else spared  # another mask tells as much
        if own.any() and not spared.any():
            raise _Lost
        self._parted = self._parted or bool(
            (bad & (given | others)).any() and (self._masks or (groups.shared and spared.any()))
        )
        if (spared & ~infinite).any():
            self._end = self._end or node.name

    def _infinite_of(self, item: InputSeen) -> Array | None:
        """The infinite elements of an input that is followed; None of any other."""
        if item.index in self._followed:
            return self._followed[item.index]
        return self._infinite if item.index is None and item.name == self._source else None


def _readers(graph: Graph, name: str) -> list[str]:
    return [reader.name for reader, _ in graph.consumers(name)]


def _or_none(marked: Array | None) -> Array:
    return np.zeros((), np.bool_) if marked is None else marked


def _handed_on(node: Node, infinite: Array, reached: Array | None) -> Array:
    """The `infinite` elements of what `node` made that come of the followed ones; all of them if nobody can tell."""
    if node.op_type in CROSS_ENTROPIES:
        return np.zeros_like(infinite)
    return infinite if reached is None else np.asarray(infinite & reached)


def _reached(node: Node, shape: Shape, marks: Mapping[int, Array], inputs: Sequence[InputSeen]) -> Array | None:
    """The elements of what `node` makes, in the `shape`, that read one in `marks`; None if it is not elementwise."""
    if node.op_type not in ELEMENTWISE - BY_CHANNEL:
        return None
    found = np.zeros(shape, np.bool_)
    for position, marked in marks.items():
        if marked.ndim > len(shape) or not spreads_to(marked.shape, shape):
            raise _Lost
        condition = inputs[0].value if node.op_type in SELECTS and position else None
        if condition is not None and condition.ndim <= len(shape) and spreads_to(condition.shape, shape):
            marked = marked & (condition if position == 1 else ~condition)
        found |= marked
    return found
