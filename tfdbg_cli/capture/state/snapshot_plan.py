"""How snapshots of the calls of a function are taken, found out once for the function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.graph.scopes import named_graphs_below
from tfdbg_cli.capture.functions.optimized.compiled import Compiled
from tfdbg_cli.capture.functions.signature.arguments import Slot
from tfdbg_cli.capture.state.outside import (
    NotReplayableError,
    Outside,
    ReplayPart,
    outside_of,
    types_in_variables,
    written_by,
)
from tfdbg_cli.capture.state.variable_values import VariableReader
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import AtomicFunction, EagerTensor
from tfdbg_cli.model.dtypes import element_type_named
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.units import bytes_text

if TYPE_CHECKING:
    from tfdbg_cli.capture.replay.function import ReadyFunction
    from tfdbg_cli.capture.replay.optimized import OptimizedFunction

_FEW = 16  # numbers that a variable may hold to be called small
_NO_ROOM = "the variables that it changes take {}, more than the {} of memory that tfdbg may use"


class SnapshotPlan:
    """What snapshots need to know of `atomic`, whose scope is `root` and whose inputs are `slots`."""

    def __init__(
        self,
        root: Scope,
        slots: Sequence[Slot],
        atomic: AtomicFunction,
        optimized: Callable[[], Compiled | None] = lambda: None,
    ) -> None:
        """Find it out. `optimized` gives what the runtime makes of the function; None as long as it is not known."""
        self.optimized = optimized
        self.root = root
        self.slots = slots
        self.written = written_by(root)  # positions, among the inputs, of the variables that a call may change
        self.outside: Outside | None = None
        self.again: ReplayPart | None = None
        self.reason = ""  # why a call cannot be made again; empty when it can
        try:
            self.outside = outside_of(root, named_graphs_below(atomic))
            self.again = self.outside.whole()
        except RecursionError:
            self.reason = "its calls are nested too deep"
        except NotReplayableError as error:
            self.reason = str(error)
        # The function that makes calls again, once one was made.
        self.ready: ReadyFunction | OptimizedFunction | None = None
        self.nearer = False  # whether `ready` leaves out values whose return would change the function's own ops
        self._types = types_in_variables(root)
        self._readers: dict[tuple[int, ...], VariableReader] = {}

    @cached_property
    def is_whole(self) -> bool:
        """Whether the function itself can make calls again: it acts only on variables, and calls no function."""
        outside, again = self.outside, self.again
        if outside is None or again is None or outside.silenced or self.root.calls:
            return False
        return set(again.part.inputs) == set(outside.flat.arguments)

    @property
    def sources(self) -> frozenset[TensorName]:
        """What ops draw from outside, in the names of the run: `CallSnapshot.after` wants these values."""
        return frozenset() if self.outside is None else self.outside.to_take

    @cached_property
    def nbytes(self) -> int:
        """The bytes of the variables that a call may change, as far as their shapes are known before it."""
        arguments = [self.slots[position].argument for position in self.written if position < len(self.slots)]
        return sum(_nbytes(argument.shape, argument.dtype) for argument in arguments)

    def obstacle(self, room: int) -> str:
        """Why calls cannot be made again when a snapshot may take `room` bytes; empty when they can."""
        return self.reason or self.lacks(room)

    def lacks(self, room: int | None) -> str:
        """Why variables that a call changes are not held in `room` bytes (None: any); empty when they are."""
        if room is None or self.nbytes <= room:
            return ""
        return _NO_ROOM.format(bytes_text(self.nbytes), bytes_text(room))

    def is_variable(self, inputs: Sequence[EagerTensor], position: int) -> bool:
        """Whether a variable's handle is at `position` of `inputs`, as far as can be known."""
        return position in self._types or self._type_of(inputs, position) is not None

    def is_small(self, position: int) -> bool:
        """Whether the variable whose handle is at `position` is known to hold one number, or a few integers.

        A count of steps is that, and the state of a generator of random numbers.
        """
        variable = self.slots[position].variable
        if variable is None:
            return False
        elements = variable.shape.num_elements()
        return elements == 1 or (elements is not None and elements <= _FEW and variable.dtype.is_integer)

    def _type_of(self, inputs: Sequence[EagerTensor], position: int) -> int | None:
        # What the ops of the function tell is known already; a handle tells it by a message that is made for that.
        return self._types.get(position) or compat.type_in_variable(inputs[position])

    def read_handles(
        self, inputs: Sequence[EagerTensor], handles: Mapping[int, EagerTensor]
    ) -> dict[int, EagerTensor]:
        """The values of the variables of `handles`, each of the type of the variable at its position in `inputs`."""
        positions = [at for at in handles if self.is_variable(inputs, at)]
        return dict(zip(positions, self._read(inputs, handles, positions), strict=True))

    def read(self, inputs: Sequence[EagerTensor], positions: Sequence[int]) -> list[EagerTensor | None]:
        """The values of the variables whose handles are at `positions`; None for a variable that has no value."""
        return self._read(inputs, inputs, positions)

    def _read(
        self,
        inputs: Sequence[EagerTensor],
        handles: Sequence[EagerTensor] | Mapping[int, EagerTensor],
        positions: Sequence[int],
    ) -> list[EagerTensor | None]:
        key = tuple(positions)
        reader = self._readers.get(key)
        if reader is None:
            reader = VariableReader([self._type_of(inputs, at) or 0 for at in key])
            self._readers[key] = reader
        return reader.read([handles[at] for at in key])


def _nbytes(shape: tuple[int | None, ...] | None, dtype: str) -> int:
    element = element_type_named(dtype)
    if shape is None or element is None or element.itemsize is None:
        return 0
    return element.itemsize * math.prod(size or 0 for size in shape)
