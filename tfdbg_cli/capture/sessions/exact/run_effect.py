"""What a run gave to the program and left in its variables, and how that differs from another run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tfdbg_cli.capture.sessions.updated_variables import updated_name
from tfdbg_cli.model.exactness import Parting, parted
from tfdbg_cli.model.names import parse_tensor_name
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import Value


@dataclass(frozen=True)
class RunEffect:
    """The values of the tensors that a run fetched, by name, and those of the variables that it wrote, after it."""

    fetched: Mapping[str, Value] = field(default_factory=dict)
    variables: Mapping[str, Value] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many values these are."""
        return len(self.fetched) + len(self.variables)

    def parted_from(self, other: RunEffect) -> tuple[Parting, ...]:
        """The values in which `other`, the same run made again, differs in any bit; those it lacks are left out."""
        fetched = [other.fetched.get(name, value) for name, value in self.fetched.items()]
        variables = [other.variables.get(name, value) for name, value in self.variables.items()]
        return (
            *parted(self.fetched, self.fetched.values(), fetched),
            *parted(self.variables, self.variables.values(), variables),
        )


def outcome_in(tensors: TensorStore, like: RunEffect) -> RunEffect:
    """The outcome of a run whose values are in `tensors`: those of the names in `like` that are found there."""
    fetched: dict[str, Value] = {}
    variables: dict[str, Value] = {}
    for name in like.variables:
        for row in tensors.named(updated_name(name).node):
            if tensors[row].op_type == UPDATED_VARIABLE:
                variables[name] = tensors.value(row)
    for text in like.fetched:
        known = parse_tensor_name(text)
        for row in () if known is None else tensors.named(known.node, known.slot):
            tensor = tensors[row]
            if not tensor.execution and tensor.op_type != UPDATED_VARIABLE:
                fetched[text] = tensors.value(row)
    return RunEffect(fetched, variables)
