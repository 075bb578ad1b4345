"""What the variables of a graph function tell of themselves."""

from __future__ import annotations

import gc
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tfdbg_cli.capture.functions.arguments import Slot
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.op_errors import OpError


def _frozen() -> frozenset[int]:
    """The ids of the variables of TensorFlow that layers of Keras 3 hold and do not train.

    `layer.trainable = False` reaches the variable of Keras, which the one of TensorFlow does not know. So all are
    looked through: once a stop, when somebody asks for variables.
    """
    kind = getattr(sys.modules.get("keras"), "Variable", None)
    if not isinstance(kind, type):
        return frozenset()
    found: set[int] = set()
    for one in gc.get_objects():
        if issubclass(type(one), kind):
            try:
                if not one.trainable:
                    found.add(id(one.value))
            except Exception:  # noqa: BLE001  # one without a value, or of another backend
                continue
    return frozenset(found)


@dataclass(frozen=True)
class FunctionVariables:
    """The variables among the `slots` of a function (`model.variables.TellsVariables`)."""

    slots: Sequence[Slot]

    @cached_property
    def trainable(self) -> Mapping[str, bool]:
        """As the variables say themselves, and Keras where it has frozen a layer."""
        told = {slot.argument.name: getattr(slot.variable, "trainable", None) for slot in self.slots}
        frozen = _frozen() if True in told.values() else frozenset()
        told |= {slot.argument.name: False for slot in self.slots if id(slot.variable) in frozen}
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
