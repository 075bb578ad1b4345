"""A run made node by node: the seam between the prompt and capture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Array


class Letter(StrEnum):
    """What is known of a node; the letters are those of TensorFlow's own stepper. The values are for the legend."""

    P = "placeholder or argument"
    U = "unfeedable: a handle, a loop's inside, or an op without output"
    H = "computed because it was asked for"
    I = "computed on the way"  # noqa: E741
    O = "overridden by inject_value"  # noqa: E741
    D = "variable changed by a step"


class From(StrEnum):
    """Where the inputs of a step came from, the strongest first."""

    OVERRIDE = "override"
    ASKED = "asked for before"
    ON_THE_WAY = "computed on the way"
    GIVEN = "given by the program"


@dataclass(frozen=True, slots=True)
class StepNode:
    """One node of the run, in an order in which all can be computed."""

    name: str
    op_type: str
    inputs: tuple[TensorName, ...] = ()


@dataclass(frozen=True)
class Stepped:
    """What `step` or `cont` did: the nodes that ran, in order, where their inputs came from, variables changed."""

    target: str
    computed: tuple[str, ...] = ()
    used: Mapping[TensorName, From] = field(default_factory=dict)
    updated: tuple[str, ...] = ()
    outputs: tuple[TensorName, ...] = ()


class Stepper(Protocol):
    """A run in which the user says what is computed next. It works on copies of the variables."""

    @property
    def nodes(self) -> Sequence[StepNode]:
        """All nodes that the run needs, each behind those that it reads or waits for."""
        ...

    @property
    def next(self) -> int:
        """The index in `nodes` of the node that the next step computes; their number at the end."""
        ...

    @property
    def tensors(self) -> TensorStore:
        """What is known by now, in the order in which it came to be known."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what is not as in the run."""
        ...

    def letters(self, node: str) -> frozenset[Letter]:
        """What is known of a node."""
        ...

    def step(self) -> Stepped:
        """Compute the next node.

        Raises:
            TfdbgError: there is none, or it cannot be computed; the message says why.

        """
        ...

    def cont(self, target: str, *, invalidate: bool = False, restore: bool = False) -> Stepped:
        """Compute the node `target` with all that it needs and that is not known yet.

        Args:
            target: the name of a node.
            invalidate: first forget what was read from variables that changed since.
            restore: first put the variables back as they were before the run.

        Raises:
            TfdbgError: there is no such node, or one cannot be computed.

        """
        ...

    def inject(self, name: TensorName, value: Array) -> tuple[str, ...]:
        """Let `name` have `value`, and forget what was computed from it; but variables keep what was written so.

        Returns those variables. Where they are put back (`cont`), they are written anew.

        Raises:
            TfdbgError: it is no tensor of the run, or cannot be given a value.

        """
        ...

    def dtype(self, name: TensorName) -> str:
        """The name of the element type of `name`.

        Raises:
            TfdbgError: it is no tensor of the run, or cannot be given a value.

        """
        ...

    def held(self, variable: str) -> Array | None:
        """What the copy of `variable` holds by now; None where the run has no such variable, or it holds nothing."""
        ...

    def assign(self, variable: str, value: Array) -> tuple[str, ...]:
        """Let the copy of `variable` hold `value`, of the type of what it holds; forget what was computed from it.

        It keeps the value where variables are put back. Returns as `inject`.
        """
        ...

    def close(self) -> None:
        """Free what the stepper holds."""
        ...


class Steppable(Protocol):
    """A run that can be made node by node."""

    def stepper(self) -> Stepper:
        """A stepper at its first node.

        Raises:
            TfdbgError: the run cannot be made so; the message says why.

        """
        ...
