"""What the variables of a graph function tell of themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tfdbg_cli.capture.functions.signature.arguments import Slot
from tfdbg_cli.capture.functions.signature.keras_variables import KERAS_VARIABLES
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.op_errors import OpError


def trainable_of(variables: Mapping[str, Any]) -> Mapping[str, bool]:
    """By name whether each of `variables` is trained, as it says itself, and Keras where it has frozen a layer."""
    told = {name: getattr(variable, "trainable", None) for name, variable in variables.items()}
    frozen = KERAS_VARIABLES.frozen([variables[name] for name, trainable in told.items() if trainable is True])
    told |= {name: False for name, variable in variables.items() if id(variable) in frozen}
    return {name: trainable for name, trainable in told.items() if isinstance(trainable, bool)}


@dataclass(frozen=True)
class FunctionVariables:
    """The variables among the `slots` of a function (`model.variables.TellsVariables`)."""

    slots: Sequence[Slot]

    @cached_property
    def trainable(self) -> Mapping[str, bool]:
        """As the variables say themselves, and Keras where it has frozen a layer."""
        return trainable_of({slot.argument.name: slot.variable for slot in self.slots})

    def initialized(self, names: Collection[str]) -> Mapping[str, bool]:
        """As they answer themselves; a variable of another kind, which does not, is left out."""
        found: dict[str, bool] = {}
        for slot in self.slots:
            ask = getattr(slot.variable, "is_initialized", None)
            if ask is None or slot.argument.name not in names:
                continue
            try:
                with own_ops():
                    found[slot.argument.name] = bool(ask())
            except OpError:
                continue
        return found
