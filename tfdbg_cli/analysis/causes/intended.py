"""Whether infinities in a tensor look intended: by a table of habits, or by other rows that take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

import numpy as np

from tfdbg_cli.analysis.causes.spared_rows import spared_rows
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.making.makers import Maker, maker_of
from tfdbg_cli.analysis.graph.nodes.roles import is_gradient
from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.intended_infinities import ANY_VARIABLE, HABITS, LOOKS, Habit, closes_places, may_be_a_mask
from tfdbg_cli.ops.kinds import VARIABLE_READS

_MOST_NODES = 2_000
_SUMS_OF_EXPONENTIALS = (Maker.EXPONENTIALS, Maker.SHIFTED_EXPONENTIALS)
_LOG_SUM_EXP = "LogSumExp"  # stands for its logarithm, which is that of no mask
_SPARED = "infinities that other rows of the batch take without harm"


class _State(Enum):
    """What a tensor holds, over all its executions."""

    FINE = auto()
    INFINITE = auto()
    NAN = auto()
    UNSEEN = auto()


@dataclass(frozen=True)
class Intended:
    """Infinities that the program seems to intend: their tensor `name`, why (`what`), and the rows that carry them.

    `end` names the first op in whose result they are gone; empty if NaN came of them everywhere. `nan` and `infinite`
    say whether they include any of the kind.
    """

    name: TensorName
    what: str
    end: str
    tensors: frozenset[int]
    nodes: tuple[str, ...]
    nan: bool = False
    infinite: bool = True


def told_once(found: Iterable[Intended]) -> tuple[Intended, ...]:
    """`found`, and of what is in one place in several turns of a loop one for all."""
    places: dict[tuple[TensorName, str, str], Intended] = {}
    for one in found:
        key = (one.name, one.what, one.end)
        known = places.get(key, one)
        places[key] = replace(
            known,
            tensors=known.tensors | one.tensors,
            nodes=tuple(dict.fromkeys((*known.nodes, *one.nodes))),
            nan=known.nan or one.nan,
            infinite=known.infinite or one.infinite,
        )
    return tuple(places.values())


class Intentions:
    """Asks the habits of one run. `bad` tells which tensors of the run are not finite."""

    def __init__(self, run: Run, lineage: Lineage, bad: Callable[[int], bool]) -> None:
        self._run = run
        self._lineage = lineage
        self._bad = bad
        self._states: dict[TensorName, _State] = {}

    def at(self, index: int) -> Intended | None:
        """What the infinities of the tensor at `index` are intended for; None if they look like a fault."""
        node, value = self._lineage.node(index), self._run.tensors.value(index)
        if node is None or isinstance(value, NoValue) or not is_inexact(value.dtype):
            return None
        inputs = [item.value for item in self._lineage.inputs(index)]
        return self._judged(node, self._run.tensors[index].name, value, inputs)

    def of_feed(self, item: InputSeen) -> Intended | None:
        """As `at`, of a feed or an argument that no tensor shows."""
        if item.node is None or item.value is None:
            return None
        return self._judged(item.node, TensorName(item.node.name, 0), item.value, ())

    def _judged(self, node: Node, name: TensorName, value: Array, inputs: Sequence[Array | None]) -> Intended | None:
        source = ANY_VARIABLE if self._lineage.is_variable(node) else node.op_type
        source = _LOG_SUM_EXP if self._is_log_sum_exp(node) else source
        for habit in HABITS:
            if habit.sources and source not in habit.sources:
                continue
            if not habit.sources and (not node.inputs or self._slope_is_bad(node)):
                continue
            if habit.looks_so(value, inputs):
                found = self._followed(habit, name, node, value)
                if found is not None:
                    return found
        masks = may_be_a_mask(source, value, inputs)
        if not masks and not (closes_places(source, value, inputs) and self._is_computed(node)):
            return None
        return self._spared(node, name, value, masks=masks)

    def _is_computed(self, node: Node) -> bool:
        """Whether `node` computed what it gives, and not for a gradient."""
        if not node.inputs:
            return False
        given = self._lineage.is_variable(node) or node.op_type in VARIABLE_READS or self._lineage.delivers(node)
        return not given and not is_gradient(self._lineage.graph_of(node), node.name)

    def _is_log_sum_exp(self, node: Node) -> bool:
        """Whether `node` is the logarithm in a tf.reduce_logsumexp, whose sum may just happen to be 0 and 1."""
        edges = self._lineage.edges(node) if node.op_type == "Log" else []
        return bool(edges) and maker_of(edges[0].node, self._lineage) in _SUMS_OF_EXPONENTIALS

    def _spared(self, node: Node, name: TensorName, value: Array, *, masks: bool) -> Intended | None:
        """What no habit tells, but other rows, which take the same infinities without harm."""
        found = spared_rows(self._run, self._lineage, self._bad, name, value, masks=masks)
        if found is None:
            return None
        rows = frozenset(self._run.tensors.named(name.node, name.slot)) | found.carriers
        nodes = tuple(dict.fromkeys([node.name, *(self._run.tensors[row].node for row in sorted(rows))]))
        return Intended(name, _SPARED, found.end, rows, nodes)

    def bad_readers(self, node: Node) -> frozenset[str]:
        """The bad nodes that read an input or the result of `node`, as the ops of its gradient do."""
        graph = self._lineage.graph_of(node)
        names = {tensor.node for tensor in node.inputs} | {node.name}
        readers = {reader.name for name in names for reader, _ in graph.consumers(name)} - {node.name}
        return frozenset(name for name in readers if any(self._bad(index) for index in self._run.tensors.named(name)))

    def _slope_is_bad(self, node: Node) -> bool:
        graph = self._lineage.graph_of(node)
        return any(is_gradient(graph, name) for name in self.bad_readers(node))

    def _followed(self, habit: Habit, name: TensorName, node: Node, value: Array) -> Intended | None:
        """Follow the `value` of `name` through its readers; None if one of them does not belong to the habit."""
        graph = self._lineage.graph_of(node)
        waiting, met = [name], {name}
        end, harmed = "", False
        while waiting:
            current = waiting.pop()
            for reader, slot in graph.consumers(current.node):
                looks = reader.op_type in LOOKS and reader.op_type not in habit.ends
                if slot != current.slot or looks or _is_target(reader, current):
                    continue
                fate = self._fate(habit, reader)
                is_end = reader.op_type in habit.ends
                made_nan = fate is _State.NAN and not self._was_given_nan(reader, current)
                otherwise = habit.added and (current == name if is_end else made_nan)
                if fate is None or otherwise or len(met) > _MOST_NODES:
                    return None
                if fate is _State.NAN:
                    harmed = True
                elif fate is _State.FINE:
                    end = end or (reader.name if is_end else "")
                else:
                    further = [name for name in self._outputs(reader) if name not in met]
                    met.update(further)
                    waiting.extend(further)
        if not end and not harmed:
            return None
        rows = [i for one in met for i in self._run.tensors.named(one.node, one.slot) if self._bad(i)]
        nodes = tuple(dict.fromkeys([node.name, *(self._run.tensors[i].node for i in sorted(rows))]))
        values = [value, *(self._run.tensors.value(row) for row in rows)]
        held = [one for one in values if not isinstance(one, NoValue)]
        nan, infinite = any(np.isnan(one).any() for one in held), any(np.isinf(one).any() for one in held)
        return Intended(name, habit.what, end, frozenset(rows), nodes, nan, infinite)

    def _fate(self, habit: Habit, reader: Node) -> _State | None:
        """What `reader` makes of the infinity; None if that does not belong to the habit."""
        carries, ends = reader.op_type in habit.carriers, reader.op_type in habit.ends
        if not carries and not ends:
            return None
        states = [self._state(name) for name in self._outputs(reader)]
        if _State.NAN in states:
            return _State.NAN if habit.harm else None
        if _State.INFINITE in states or (carries and _State.UNSEEN in states):
            # For "a value that tf.where replaces": if it is still in the output, it was not replaced.
            return None if ends and not habit.sources else _State.INFINITE
        return _State.FINE if states and _State.UNSEEN not in states else None

    def _was_given_nan(self, reader: Node, name: TensorName) -> bool:
        """Whether NaN came to `reader` with another input than `name`."""
        return any(self._state(given) is _State.NAN for given in reader.inputs if given != name)

    def _outputs(self, node: Node) -> list[TensorName]:
        rows = self._run.tensors.named(node.name)
        return list(dict.fromkeys(self._run.tensors[row].name for row in rows)) or [TensorName(node.name, 0)]

    def _state(self, name: TensorName) -> _State:
        found = self._states.get(name)
        if found is None:
            found = self._states[name] = self._look(name)
        return found

    def _look(self, name: TensorName) -> _State:
        rows = self._run.tensors.named(name.node, name.slot)
        state = _State.FINE if rows else _State.UNSEEN
        for row in rows:
            if not self._bad(row):
                continue
            value = self._run.tensors.value(row)
            if isinstance(value, NoValue) or np.isnan(value).any():
                return _State.NAN
            state = _State.INFINITE
        return state


def _is_target(reader: Node, name: TensorName) -> bool:
    """Whether `name` is the variable that `reader` writes, and not what it writes."""
    return updates_variable(reader.op_type) and reader.inputs[0] == name and name not in reader.inputs[1:]
