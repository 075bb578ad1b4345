"""What the variables of a graph function tell of themselves."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import ref

from tfdbg_cli.capture.functions.arguments import Slot
from tfdbg_cli.capture.living_objects import living_objects
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.process.interruptions import OUR_ERRORS_SUPPRESSED


class _OfKeras:
    """The variables of Keras 3 behind those of TensorFlow, which do not know them.

    `layer.trainable = False` reaches the variable of Keras alone. All objects of the program are looked through for
    it, a tenth of a second, once for variables that were not asked about before.
    """

    def __init__(self) -> None:
        # By the id of a variable: it, and that of Keras, None for one of the program's own.
        self._known: dict[int, tuple[ref[Any], ref[Any] | None]] = {}

    def frozen(self, variables: Sequence[Any]) -> set[int]:
        """The ids of those of `variables` that Keras does not train."""
        kind = getattr(sys.modules.get("keras"), "Variable", None)
        if not isinstance(kind, type):
            return set()
        if not all(map(self._knows, variables)):
            self._look(kind, variables)
        held = {id(one): self._known[id(one)][1] for one in variables if self._knows(one)}
        return {
            number
            for number, of in held.items()
            if of is not None and (own := of()) is not None and not own.trainable
        }

    def _knows(self, variable: Any) -> bool:
        known = self._known.get(id(variable))
        return known is not None and known[0]() is variable

    def _look(self, kind: type, variables: Sequence[Any]) -> None:
        found = {number: known for number, known in self._known.items() if known[0]() is not None}
        wanted = {id(one): one for one in variables}
        found |= {number: (ref(one), None) for number, one in wanted.items()}
        for one in living_objects(kind):
            with OUR_ERRORS_SUPPRESSED:  # it has no value yet, or is of another backend
                number = id(one.value)
                if number in wanted:
                    found[number] = ref(wanted[number]), ref(one)
        self._known = found


_OF_KERAS = _OfKeras()


def trainable_of(variables: Mapping[str, Any]) -> Mapping[str, bool]:
    """By name whether each of `variables` is trained, as it says itself, and Keras where it has frozen a layer."""
    told = {name: getattr(variable, "trainable", None) for name, variable in variables.items()}
    frozen = _OF_KERAS.frozen([variables[name] for name, trainable in told.items() if trainable is True])
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
