"""What the variables of a graph function tell of themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tfdbg_cli.capture.functions.arguments import Slot
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.op_errors import OpError


@dataclass(frozen=True)
class FunctionVariables:
    """The variables among the `slots` of a function (`model.variables.TellsVariables`)."""

    slots: Sequence[Slot]

    @cached_property
    def trainable(self) -> Mapping[str, bool]:
        """As the variables say themselves."""
        told = {slot.argument.name: getattr(slot.variable, "trainable", None) for slot in self.slots}
        return {name: trainable for name, trainable in told.items() if isinstance(trainable, bool)}

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
