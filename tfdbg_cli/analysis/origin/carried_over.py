"""What a run leaves as it was: variables that hold the same NaN and infinities after it as before.

A running minimum begins with infinity and keeps it until something smaller comes; a buffer filled with NaN is written
element by element. What such a variable still holds was not made by the run. That an element is the same is not
enough: weights that are NaN stay NaN in every step, by arithmetic that a person wants to hear of. So what is assigned
must be taken from variables and literals by ops that compute nothing. Infinities may be new then: the program wrote
them down. To them something may be added, too, as to the value of a state that was not reached yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.graph.flow.updates_within import HeldBefore
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE
from tfdbg_cli.analysis.watch.outcome import outcome_of
from tfdbg_cli.analysis.watch.verdicts import alike, nan_mask
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.updates import UPDATED_VARIABLE, after_update, before_update
from tfdbg_cli.model.values import Array, NoValue, known_array
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.effects import takes_handle, updates_variable
from tfdbg_cli.ops.kinds import (
    ASSIGNMENTS,
    CALLS,
    EXTREMES,
    INCREMENTS,
    INPUTS,
    JOINS,
    LITERALS,
    MERGE,
    MOVES,
    PUTS_INTO,
    RESTORES,
    SAME_VALUE,
    SELECTS,
    SUMS,
    VARIABLE_READS,
    WRITES_OVER,
)

_IsSource: TypeAlias = "Callable[[Node | None, Array], bool]"  # of a node and what it gives
_CARRY = frozenset(SAME_VALUE) | MOVES | PUTS_INTO | SELECTS | MERGE | EXTREMES | CALLS | {"Fill"}
_KEEP_INFINITIES = SUMS | {"AddN", "Mul", "Neg", "Abs"}
_SHOW_VARIABLES = frozenset({"ReadVariableOp", UPDATED_VARIABLE})
_PARTS_OF_ONE = MOVES - JOINS - {"Cast", "Pad", "PadV2"}  # they give elements of one input as they are, and no others
_MOST_MOVES = 10  # one behind the other
_MOST_FOLLOWED = 10_000  # tensors between a variable and what is assigned to it


@dataclass(frozen=True)
class _Sources:
    """Where something may have been taken from, and of which rows it is known: `taken` from there, or `elsewhere`."""

    is_source: _IsSource
    taken: set[int] = field(default_factory=set)
    elsewhere: set[int] = field(default_factory=set)


class CarriedOver:
    """Asks of tensors that come out of `run` whether all that is bad in them was in its variables before."""

    def __init__(self, run: Run, lineage: Lineage | None = None) -> None:
        self._run = run
        self._lineage = lineage or Lineage(run)
        self._outcome = outcome_of(run.graph, run.call)
        self._fetched = frozenset(map(tensor_name_of, run.call.fetches))
        self._known: dict[TensorName, bool] = {}
        self._held = HeldBefore(run)
        # Not by `self`, which would keep the run until a full collection.
        self._nan_too = _Sources(partial(_is_source, self._lineage, may_be_nan=True))
        self._infinities = _Sources(partial(_is_source, self._lineage, may_be_nan=False))
        self._restored = _Sources(lambda node, _: node is not None and node.op_type in RESTORES)

    def names(self, rows: Iterable[int]) -> tuple[TensorName, ...]:
        """Those of the tensors at `rows` that are bad only by what was in variables before the run.

        That are the variables after their update, and what was assigned to them.
        """
        return tuple(dict.fromkeys(self._run.tensors[row].name for row in rows if self._is_carried(row)))

    def is_as_before(self, row: int) -> bool:
        """Whether the tensor at `row` is among `names`, or shows a variable with nothing bad but what was there.

        In the latter NaN may have been written over NaN: then the NaN that was written is what went wrong.
        """
        return self._shows_the_same(row) or self._is_carried(row)

    def _is_carried(self, row: int) -> bool:
        name, node = self._run.tensors[row].name, self._lineage.node(row)
        if node is not None and _shown_variable(node) is not None:
            return self._variable_is(name)
        if node is not None and self._only_reads(node, row):
            return True
        if name in self._fetched:
            return False  # the program is given it
        rows = map(self._run.tensors.named, self._outcome.applied.get(name, frozenset()))
        shown = [self._run.tensors[each[-1]].name for each in rows if each]  # none of a branch that was not taken
        return bool(shown) and all(map(self._variable_is, shown))

    def _only_reads(self, node: Node, row: int) -> bool:
        """Whether `node`, of the tensor at `row`, reads a variable that is as before, and the program is given that.

        A program that fetches or reads a variable wants to see it; one that fetches an update mostly drops the value.
        A function that gives back what it read in a variable is none of these: its result is computed with.
        """
        kind = self._run.call.kind
        if kind is RunKind.EAGER:
            node = self._moved(node)
        if node.op_type != "ReadVariableOp" or not node.inputs or not (kind.of_session or kind is RunKind.EAGER):
            return False
        shown = TensorName(after_update(node.inputs[0].node), 0)
        rows = self._run.tensors.named(shown.node, shown.slot)
        if not rows:
            return True  # no op of the run writes it
        if kind is RunKind.EAGER:
            return self._variable_is(shown)
        waits = (found for name in node.control_inputs for found in self._found(name))
        if not any(updates_variable(each.op_type) and each.inputs[:1] == node.inputs[:1] for each in waits):
            return False
        held, value = self._run.tensors.value(rows[-1]), self._run.tensors.value(row)
        if isinstance(held, NoValue) or isinstance(value, NoValue):
            return False
        return not _is_new(value, held).any() and self._variable_is(shown)

    def _moved(self, node: Node) -> Node:
        """The node whose elements `node` gives in other places, or some of them: `w[i]` runs an op of its own."""
        for _ in range(_MOST_MOVES):
            edges = self._lineage.edges(node) if node.op_type in _PARTS_OF_ONE else []
            made = edges[0].node if edges else None
            if made is None:
                break
            node = made
        return node

    def _variable_is(self, name: TensorName) -> bool:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._looked_at(name)
        return known

    def _looked_at(self, name: TensorName) -> bool:
        """Whether the variable that the tensors called `name` show holds only what it held before the run.

        With what a variable begins does no harm yet, nor what a checkpoint puts there in its place.
        """
        rows = self._run.tensors.named(name.node, name.slot)
        return bool(rows) and all(self._begins(row) or self._is_restored(row) or self._holds(row) for row in rows)

    def _holds(self, row: int) -> bool:
        """Whether the variable at `row` holds what it held, or infinities instead that the program wrote down."""
        same = self._shows_the_same(row)
        if not same and not self._shows_new_infinities(row):
            return False
        return self._is_brought(row, self._nan_too if same else self._infinities)

    def _is_restored(self, row: int) -> bool:
        """Whether all that is bad in the variable at `row` was read from a checkpoint and assigned to it."""
        shown = self._shown(row)
        if shown is None or not self._is_written_by(ASSIGNMENTS, shown[0], shown[1]):
            return False
        return self._is_brought(row, self._restored)

    def _shows_the_same(self, row: int) -> bool:
        """Whether the tensor at `row` shows a variable in which each bad element is as it was before the run."""
        shown = self._shown(row)
        if shown is None:
            return False
        node, variable, value = shown
        if not nonfinite_mask(value).any() or self._begins(row):
            return True
        allowed = WRITES_OVER if nan_mask(value).any() else WRITES_OVER | INCREMENTS
        held = self._held_at(row, variable) if self._is_written_by(allowed, node, variable) else None
        return held is not None and not _is_new(value, held).any()

    def _shows_new_infinities(self, row: int) -> bool:
        """Whether the tensor at `row` shows a variable that was written over, and of its NaN none is new."""
        shown = self._shown(row)
        if shown is None:
            return False
        node, variable, value = shown
        held = self._held_at(row, variable) if nan_mask(value).any() else np.zeros_like(value)
        if held is None or not self._is_written_by(WRITES_OVER, node, variable):
            return False
        return not (_is_new(value, held) & nan_mask(value)).any()

    def _shown(self, row: int) -> tuple[Node, str, Array] | None:
        """The node of the tensor at `row`, the variable that it shows, and its value; None if it shows none."""
        node, value = self._lineage.node(row), self._run.tensors.value(row)
        variable = None if node is None else _shown_variable(node)
        return None if node is None or variable is None or isinstance(value, NoValue) else (node, variable, value)

    def _begins(self, row: int) -> bool:
        """Whether the variable at `row` was made by this run, of code that runs eagerly, and had its first value."""
        update = self._lineage.update(row)
        if update is None or update.op_type not in ASSIGNMENTS or self._run.tensors[row].execution:
            return False
        target = next(iter(self._lineage.edges(update)), None)
        made = None if target is None else target.node
        return made is not None and self._lineage.is_made_here(made) and self._lineage.first_update(made) == update

    def _is_written_by(self, allowed: Set[str], shown: Node, variable: str) -> bool:
        """Whether it is known what writes `variable`, which `shown` shows, and that is of the `allowed` types."""
        if shown.op_type != UPDATED_VARIABLE:
            return shown.op_type in allowed
        waits = [node for name in shown.control_inputs for node in self._found(name)]
        writers = {node.op_type for node in waits if updates_variable(node.op_type)}
        all_told = len(waits) == len(shown.control_inputs) and all(updates_variable(node.op_type) for node in waits)
        if not (self._run.call.kind.of_session and all_told):  # the graph of a session has updates of other runs, too
            writers |= {each.op_type for node in self._found(variable) for each in self._lineage.writers(node)}
        return bool(writers) and writers <= allowed

    def _found(self, name: str) -> list[Node]:
        """The node called `name`, in the first graph of the run that has it."""
        found = (graph.find(name) for graph in self._lineage.graphs)
        return [node for node in found if node is not None][:1]

    def _held_at(self, row: int, variable: str) -> Array | None:
        """What `variable`, which the tensor at `row` shows, held before the run, or else before its last update."""
        held, shown = self._held_before(variable), self._run.tensors[row]
        if held is not None or not shown.execution:
            return held
        for before in self._run.tensors.named(shown.name.node, shown.name.slot):
            if self._run.tensors[before].execution == shown.execution - 1:
                return known_array(self._run.tensors.value(before))
        return None

    def _held_before(self, variable: str) -> Array | None:
        """The value of `variable` from before the run; None if nobody knows."""
        rows = list(self._run.tensors.named(before_update(variable)))
        rows = rows or [row for node in self._found(variable) for row in self._lineage.was_read(node)]
        for row in rows[:1]:
            return known_array(self._run.tensors.value(row))
        held = self._held.in_any_run(variable)
        made = (self._lineage.first_value(node) for node in self._found(variable) if held is None)
        return next(made, held)

    def _is_brought(self, row: int, sources: _Sources) -> bool:
        """Whether what is bad in what was written into the variable at `row` comes from `sources`, unchanged."""
        # The first of what it shows is the variable itself.
        return all(self._comes_from(sources, item) for item in self._lineage.inputs(row)[1:])

    def _comes_from(self, sources: _Sources, item: InputSeen) -> bool:
        if item.index is None:
            return _is_fine(item, sources.is_source)
        if item.index in sources.taken:
            return True
        followed: list[int] = []
        for row in reached([item.index], lambda row: self._givers(row, sources), most=_MOST_FOLLOWED):
            followed.append(row)
            # What a walk met shows as soon as the next one is told, or at its end.
            if not sources.elsewhere.isdisjoint(followed[-2:]):
                break
        if len(followed) < _MOST_FOLLOWED and sources.elsewhere.isdisjoint(followed):
            sources.taken.update(followed)
            return True
        sources.elsewhere.add(item.index)
        return False

    def _givers(self, row: int, sources: _Sources) -> Sequence[int]:
        """The rows from which the bad elements at `row` were taken; where they are computed, `row` is `elsewhere`."""
        if row in sources.taken:
            return ()
        value, node, is_source = self._run.tensors.value(row), self._lineage.node(row), sources.is_source
        if isinstance(value, NoValue):
            sources.elsewhere.add(row)
            return ()
        # What the run itself wrote into a variable, and read there again, comes from what it wrote.
        if not nonfinite_mask(value).any() or (is_source(node, value) and self._lineage.written(row) is None):
            return ()
        inputs = self._lineage.inputs(row)
        bad = [item for item in inputs if item.value is not None and nonfinite_mask(item.value).any()]
        fine = all(_is_fine(item, is_source) for item in bad)
        # Without any it is a cast to a narrower type, say.
        if node is None or not bad or not _carries(node, value, inputs) or not fine:
            sources.elsewhere.add(row)
        return [item.index for item in bad if item.index is not None]


def variables_among(run: Run, names: Iterable[TensorName]) -> list[str]:
    """The variables that the tensors called `names` show, in alphabetical order."""
    nodes = (run.graph.find(name.node) for name in names)
    return sorted({shown for node in nodes if node is not None and (shown := _shown_variable(node)) is not None})


def _shown_variable(node: Node) -> str | None:
    """The name of the variable that `node` shows after its update; None for another node."""
    by_reference = updates_variable(node.op_type) and not takes_handle(node.op_type)
    shows = node.op_type == UPDATED_VARIABLE or by_reference
    return node.inputs[0].node if shows and node.inputs else None


def _is_fine(item: InputSeen, is_source: _IsSource) -> bool:
    """Whether `item` is a tensor of the run, which is followed further, or a source, or finite."""
    if item.index is not None or item.value is None or not nonfinite_mask(item.value).any():
        return True
    return is_source(item.node, item.value)


def _carries(node: Node, value: Array, inputs: Iterable[InputSeen]) -> bool:
    """Whether what is bad in `value`, which `node` gave, was there before, as far as the op tells.

    A sum, a product or a sign may keep infinities. Of ops that go element by element, each bad one was bad before.
    """
    keeps = node.op_type in _KEEP_INFINITIES and not nan_mask(value).any()
    shows = node.op_type in _SHOW_VARIABLES
    if not keeps and not shows and node.op_type not in _CARRY:
        return False
    if not shows and node.op_type not in ELEMENTWISE:
        return True
    there = np.zeros(value.shape, np.bool_)
    for item in inputs:
        before = None if item.value is None else nonfinite_mask(item.value)
        if before is None or not before.any():
            continue
        try:
            there |= np.broadcast_to(before, value.shape)
        except ValueError:  # of a damaged run; or the vector lies along another axis, as it may in a BiasAdd
            return False
    return not (nonfinite_mask(value) & ~there).any()


def _is_new(value: Array, held: Array) -> Array:
    """Which bad elements of `value` are not the same in `held`."""
    bad = nonfinite_mask(value)
    if value.shape != held.shape or value.dtype != held.dtype:
        return bad
    return np.asarray(bad & ~alike(value, held))


def _is_source(lineage: Lineage, node: Node | None, value: Array, *, may_be_nan: bool) -> bool:
    """Whether `node`, which gives `value`, reads a variable, or is an infinity that was written down.

    With `may_be_nan` it may also be what came into the run from outside, such as weights that a file held.
    """
    if node is None:
        return False
    if node.op_type in INPUTS and not lineage.is_variable(node):
        return may_be_nan or not nan_mask(value).any()
    if node.op_type in LITERALS:
        return not nan_mask(value).any()
    held = node.op_type in VARIABLE_READS | RESTORES or node.op_type == UPDATED_VARIABLE
    return held or lineage.is_variable(node)
