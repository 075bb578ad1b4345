"""An op as every graph can show it: the tf.Graph of a session, and functions that call each other.

What is found out about graphs before they run, such as what the optimizer may fold (`facts`), is written once, for
ops as they are seen here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from tfdbg_cli.ops.transparent_shapes import Shape

Name = TypeVar("Name", bound=Hashable)  # what a graph calls a tensor
Name_co = TypeVar("Name_co", bound=Hashable, covariant=True)  # the same, of what only gives names


class TensorKind(NamedTuple):
    """What a tensor is known to be before a run: the name of its dtype, and its shape."""

    dtype: str
    shape: Shape


class OpView(Protocol[Name_co]):
    """One op of a graph."""

    @property
    def op_type(self) -> str:
        """Its type, such as `MatMul`."""
        ...

    @property
    def inputs(self) -> Sequence[Name_co]:
        """What it reads, in order; not what it only waits for."""
        ...

    @property
    def outputs(self) -> Sequence[Name_co]:
        """What it gives."""
        ...

    @property
    def inputs_are(self) -> Sequence[TensorKind]:
        """What is known of `inputs`."""
        ...

    @property
    def outputs_are(self) -> Sequence[TensorKind]:
        """What is known of `outputs`."""
        ...

    @property
    def is_stateful(self) -> bool:
        """Whether TensorFlow counts it as stateful (its OpDef says so)."""
        ...

    @property
    def calls_functions(self) -> bool:
        """Whether it runs functions, which the optimizer may put in its place."""
        ...

    @property
    def array(self) -> Any:
        """The array of a `Const`; None of another op, and where it is not read."""
        ...

    def attribute(self, name: str) -> Any:
        """An attribute as a Python value; None when it has none of that name."""
        ...
