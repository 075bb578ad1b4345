"""The variables of a run, with what was found out about them: each is counted once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from tfdbg_cli.analysis.variables.listing import Variable, variables_of
from tfdbg_cli.analysis.variables.near_names import NearNames, near_names
from tfdbg_cli.analysis.variables.partitions import with_wholes
from tfdbg_cli.analysis.variables.values import VariableValues
from tfdbg_cli.analysis.variables.variable_layers import layer_of
from tfdbg_cli.analysis.watch.answers import Answers
from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.model.calls import RunError, RunKind
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import recorded_summary, summary_in_steps
from tfdbg_cli.model.values import Lack, NoValue

# How TensorFlow says that an op read a variable without a value: of the new kind, and of the old one.
_UNSET = re.compile(r"(?:Could not find variable |uninitialized value )(?P<name>[^\s]+?)[.,]?(?:\s|$)")


class KnownVariables:
    """The variables of `run`, and what of them was counted; with `begins` it has not happened yet.

    `rows` are the variables where they are not those that the graphs of the run have.
    """

    def __init__(self, run: Run, *, begins: bool = False, rows: Sequence[Variable] | None = None) -> None:
        self.run = run
        self.begins = begins
        self.rows = variables_of(run) if rows is None else rows
        self.values = VariableValues(run, self.rows)
        self.as_run = replace(run, tensors=self.values)
        self._summaries: dict[int, Summary | None] = {}
        self._lacks: dict[int, Lack | None] = {}
        self._histograms: dict[int, tuple[int, ...]] = {}
        self._layers: dict[int, str] = {}
        self._answers: dict[int, tuple[TensorFilter, Answers]] = {}

    def with_wholes(self, held: Sequence[Variable]) -> KnownVariables:
        """The same with one variable for the parts of each that is `held` whole; of parts alone it has no values."""
        rows = with_wholes(self.rows, held)
        return self if rows is self.rows else KnownVariables(self.run, begins=self.begins, rows=rows)

    def summary(self, at: int) -> Summary | None:
        """What the variable holds; None where its value is not held."""
        for _ in self.summary_in_steps(at):
            pass
        return self._summaries[at]

    def summary_in_steps(self, at: int) -> Iterator[None]:
        """Count the value of the variable, a large one a slice at a time."""
        if at not in self._summaries:
            found: Summary | None = None
            for so_far in summary_in_steps(self.values, at):
                found = so_far
                yield
            self._take(at, found)

    def _take(self, at: int, summary: Summary | None) -> None:
        if summary is None:
            value = self.values.value(at)
            self._lacks[at] = value.lack if isinstance(value, NoValue) else None
        self._summaries[at] = summary

    def answers(self, tensor_filter: TensorFilter) -> Answers:
        """The answers of a filter for the variables, by place; to be filled."""
        return self._answers.setdefault(id(tensor_filter), (tensor_filter, {}))[1]

    def lack(self, at: int) -> Lack | None:
        """Why the variable has no `summary`, once it was asked for."""
        return Lack.UNINITIALIZED if self.initialized(at) is False else self._lacks.get(at)

    def histogram(self, at: int) -> tuple[int, ...] | None:
        """How its elements are spread; None until they were counted."""
        return self._histograms.get(at)

    def take(self, at: int, summary: Summary | None, histogram: tuple[int, ...]) -> None:
        """Keep what somebody counted of the value of the variable."""
        self._take(at, summary)
        self._histograms[at] = histogram

    def told(self, at: int) -> Summary | None:
        """What the variable holds as far as that was counted or recorded already."""
        return self._summaries.get(at) or recorded_summary(self.values, at)

    def layer(self, at: int) -> str:
        """The layer or scope that it belongs to; empty for none."""
        if at not in self._layers:
            self._layers[at] = layer_of(self.run, self.rows[at])
        return self._layers[at]

    def initialized(self, at: int) -> bool | None:
        """Whether it holds a value; None where nobody can tell."""
        return self._initialized.get(self.rows[at].name)

    @cached_property
    def _initialized(self) -> Mapping[str, bool]:
        kind = self.run.call.kind
        names = [one.name for one in self.rows]
        if kind is RunKind.GRAPH:
            return {}
        if kind is RunKind.CHECKPOINT:
            return dict.fromkeys(names, True)
        ended = not self.begins and self.run.error is None
        sure = {one.name for one in self.rows if ended and (one.read or one.written)}
        open_ = [name for name in names if name not in sure]
        told = {} if self.run.variables is None else self.run.variables.initialized(open_)
        return {**_unset(self.run.error, open_), **told, **dict.fromkeys(sure, True)}

    @cached_property
    def near(self) -> tuple[NearNames, ...]:
        """Those whose names look as if they had been made twice."""
        kinds = {one.name: one.kind for one in self.rows if one.shape is not None}
        idle = {one.name for at, one in enumerate(self.rows) if one.is_idle or self.initialized(at) is False}
        slots = [one.name for one in self.rows if one.slot_of]
        return tuple(near_names(kinds, [*slots, *self._copies], idle.__contains__))

    @property
    def _copies(self) -> list[str]:
        """The variables of a SavedModel that the program does not have: TensorFlow makes them when it saves."""
        told = self.run.variables
        if self.run.call.kind is not RunKind.GRAPH or told is None or not told.trainable:
            return []
        return [one.name for one in self.rows if one.name not in told.trainable]

    def tensor(self, at: int) -> str | None:
        """The name of the tensor that holds its value; None where none does."""
        rows = self.rows[at].rows
        return str(self.run.tensors[rows[0]].name) if rows else None


def _unset(error: RunError | None, names: list[str]) -> Mapping[str, bool]:
    """The variables that a run failed for, since they were without a value."""
    found = _UNSET.search(error.message) if error is not None else None
    return {found["name"]: False} if found is not None and found["name"] in names else {}
