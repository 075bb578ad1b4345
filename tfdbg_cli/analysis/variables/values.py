"""The values of the variables of a run as tensors: what the run left in each, else what it read or was given.

Where the program stands in the middle of the run, a variable that was written from there has what it holds now.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from tfdbg_cli.analysis.graph.flow.updates_within import HeldBefore
from tfdbg_cli.analysis.graph.nodes.feeds import fed_value
from tfdbg_cli.analysis.variables.listing import Variable
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import FoundByNode, Tensor, recorded_summary
from tfdbg_cli.model.updates import is_after_update
from tfdbg_cli.model.values import Lack, NoValue, Value
from tfdbg_cli.model.variables import SavedVariable, ToldVariables

_NOTHING = NoValue(Lack.GONE, "The run did not read this variable, and its value was not kept.")


class ValueSource(StrEnum):
    """From when a value of a variable is."""

    UPDATED = "updated"  # as the run left it
    READ = "read"  # as the run read it
    GIVEN = "given"  # before the run
    SAVED = "saved"  # in a checkpoint
    WRITTEN = "written"  # as the user wrote it where the program stands


class VariableValues(FoundByNode):
    """The tensors of `variables` of `run`, in this order. A value is looked for when it is asked for."""

    def __init__(self, run: Run, variables: Sequence[Variable]) -> None:
        super().__init__(TensorName(variable.name, 0) for variable in variables)
        self._run = run
        self._variables = variables
        self._held = HeldBefore(run)
        self._saved = run.variables.saved if isinstance(run.variables, ToldVariables) else dict

    def __len__(self) -> int:
        return len(self._variables)

    def __getitem__(self, index: int) -> Tensor:
        one = self._variables[index]
        known = None if one.shape is None or None in one.shape else tuple(size or 0 for size in one.shape)
        return Tensor(TensorName(one.name, 0), one.device, 0, one.dtype, known, one.nbytes, None, one.op_type)

    def value(self, index: int) -> Value:
        """The value, or why there is none."""
        one, lack = self._variables[index], _NOTHING
        if self._run.paused is not None and self._is_written(one):
            return self._run.paused.value(TensorName(one.name, 0))
        for row in one.rows:
            value = self._run.tensors.value(row)
            if not isinstance(value, NoValue):
                return value
            lack = value
        if (saved := self._beside(one)) is not None:
            return saved.value()
        given = fed_value(self._run.call.feeds, TensorName(one.name, 0)) if one.given else None
        if given is None and not one.written:
            given = self._held.value(one.name)
        return lack if given is None else given

    def summary(self, index: int) -> Summary | None:
        """The numbers of the value as they were recorded."""
        if self._is_written(self._variables[index]):
            return None
        found = (recorded_summary(self._run.tensors, row) for row in self._variables[index].rows)
        return next((one for one in found if one is not None), None)

    def _is_written(self, one: Variable) -> bool:
        paused = self._run.paused
        return paused is not None and TensorName(one.name, 0) in paused.written

    def _beside(self, one: Variable) -> SavedVariable | None:
        """The value that lies beside the file, of the same dtype and shape."""
        found = self._saved().get(one.name)
        if found is None:
            return None
        tensor = found.store[found.index]
        is_same = tensor.dtype == one.dtype and tensor.shape in (None, one.shape)
        return found if is_same or one.shape is None or None in one.shape else None

    def source(self, index: int) -> ValueSource | None:
        """From when the value is, as far as that is known without looking at it."""
        one = self._variables[index]
        if self._is_written(one):
            return ValueSource.WRITTEN
        if not one.rows and self._beside(one) is not None:
            return ValueSource.SAVED
        if not one.rows:
            return ValueSource.GIVEN if one.given else None
        if self._run.call.kind is RunKind.CHECKPOINT:
            return ValueSource.SAVED
        return ValueSource.UPDATED if is_after_update(self._run.tensors[one.rows[0]].node) else ValueSource.READ
