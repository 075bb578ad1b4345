"""What it takes to make a run again, elsewhere and later: its graph, and everything that it read from outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from tfdbg_cli.model.calls import RunError, RunKind
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Array


class InputRole(StrEnum):
    """Where an input of a run came from."""

    GIVEN = "given"  # an argument of a function, a feed of a session
    VARIABLE = "variable"  # the value before the run
    SOURCE = "source"  # what an op of the run drew: a batch, random numbers, the answer of a Python function


@dataclass(frozen=True)
class ReplayInput:
    """One value that the run read.

    `name` is that of an argument or variable as the run shows it, of a source the tensor `node:slot`. `node` is the
    VarHandleOp (or reference variable) of a session's graph that holds a variable; empty for functions.
    """

    name: str
    role: InputRole
    dtype: str
    value: Array
    node: str = ""

    @property
    def tensor(self) -> TensorName:
        """The tensor that it is in the run."""
        return tensor_name_of(self.name)


@dataclass(frozen=True)
class ReplaySpec:
    """A run that can be made again.

    Of a function, `graph` is a serialized FunctionDefLibrary and `entry` names the function in it; `inputs` are its
    arguments in order, a variable's being a handle. Of a session, `graph` is a serialized GraphDef and `fetches` are
    tensor and operation names; `inputs` are fed, or put into the variables. `limits` are sentences that say what
    keeps it from being the same run.
    """

    kind: RunKind
    graph: bytes
    entry: str = ""
    fetches: tuple[str, ...] = ()
    inputs: tuple[ReplayInput, ...] = ()
    limits: tuple[str, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)

    @property
    def variables(self) -> tuple[ReplayInput, ...]:
        """The inputs that are variables."""
        return tuple(item for item in self.inputs if item.role is InputRole.VARIABLE)

    @property
    def held(self) -> dict[str, Array]:
        """Of a session: what each variable held before the run, by the node that holds it."""
        return {item.node: item.value for item in self.variables}

    @property
    def fed(self) -> dict[str, Array]:
        """Of a session: the values by the names of the tensors that are fed, what ops drew among them."""
        return {item.name: item.value for item in self.inputs if item.role is not InputRole.VARIABLE}


class Replayable(Protocol):
    """A run whose state from before it is held."""

    def replay_spec(self) -> ReplaySpec:
        """All that it takes to make the run again.

        Raises:
            TfdbgError: it cannot be made again; the message says what stands in the way.

        """
        ...

    def with_values(self, replaced: Mapping[TensorName, Array]) -> tuple[TensorStore, RunError | None]:
        """What the run gives, with its updates on copies of the variables, when these tensors have these values.

        Raises:
            TfdbgError: it cannot be made again, or one of them cannot be replaced.

        """
        ...

    def undo(self) -> tuple[str, ...]:
        """Put the variables back as they were before the run; sentences that say what could not be put back."""
        ...
