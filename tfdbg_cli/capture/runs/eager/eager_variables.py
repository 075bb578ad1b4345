"""What the variables that eager code reads tell of themselves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Any
from weakref import ref

from tfdbg_cli.capture.functions.signature.function_variables import trainable_of
from tfdbg_cli.capture.runs.eager.program_names import variable_of_handle
from tfdbg_cli.capture.tf.compat import EagerTensor


class EagerVariables:
    """The variables of an eager run whose `handles` are given by name (`model.variables.TellsVariables`).

    Known are those that a call of the program had a name for. None is kept alive.
    """

    def __init__(self, handles: Mapping[str, Callable[[], EagerTensor | None]]) -> None:
        found = {
            name: variable_of_handle(handle) for name, given in handles.items() if (handle := given()) is not None
        }
        self._known: dict[str, ref[Any]] = {name: ref(one) for name, one in found.items() if one is not None}

    @cached_property
    def trainable(self) -> Mapping[str, bool]:
        """As the variables say themselves, and Keras where it has frozen a layer."""
        return trainable_of({name: one for name, known in self._known.items() if (one := known()) is not None})

    def initialized(self, names: Collection[str]) -> Mapping[str, bool]:
        """Nothing: eager code makes each variable with its first value."""
        return {}
