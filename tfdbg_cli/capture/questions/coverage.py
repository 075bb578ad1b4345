"""Which tensors need not be asked, since the answer for them follows from those for others: found op by op.

For NaN and infinities a tensor need not be asked when an op that certainly runs reads it and cannot hide what is
wrong with it (ops/transparency.py): the output of that op is asked, or read in turn by such an op. For magnitudes and
zeros the output of an op need not be that holds elements of its inputs only (ops/element_bounds.py).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tfdbg_cli.capture.questions.question import Covering
from tfdbg_cli.ops.element_bounds import bounding_inputs, copied_inputs
from tfdbg_cli.ops.transparency import Use, covering, is_transparent

T = TypeVar("T", bound=Hashable)  # what names a tensor

_SOURCES = {Covering.BOUNDS: bounding_inputs, Covering.COPIES: copied_inputs}


@dataclass
class Coverage(Generic[T]):
    """The tensors that are `covered` by others.

    `shows` says whether what an op gives under a name is looked after, so that it can stand for what the op reads;
    `is_given` whether what it reads under a name is, so that it can stand for what the op gives.
    """

    covering: Covering
    shows: Callable[[T], bool]
    is_given: Callable[[T], bool]
    covered: set[T] = field(default_factory=set)

    def look_at(
        self,
        op_type: str,
        inputs: Sequence[T],
        outputs: Sequence[T],
        use: Callable[[], Use],
        may_be_covered: Callable[[T], bool],
    ) -> None:
        """Find out what need not be asked because of one op; of its inputs only what `may_be_covered`."""
        sources = _SOURCES.get(self.covering)
        if sources is not None:
            for slot, name in enumerate(outputs):
                positions = sources(op_type, slot, len(inputs)) if self.shows(name) else None
                if positions and all(self.is_given(inputs[position]) for position in positions):
                    self.covered.add(name)
        elif self.covering is not Covering.NOTHING and is_transparent(op_type):
            own = {name for name in inputs if name not in self.covered and may_be_covered(name)}
            if own and any(map(self.shows, outputs)):
                self._cover(own, inputs, outputs, use())

    def _cover(self, own: set[T], inputs: Sequence[T], outputs: Sequence[T], use: Use) -> None:
        keeping = self.covering is Covering.READERS_KEEPING
        for position, name in enumerate(inputs):
            if name in own:
                slots = covering(use, position, keeping=keeping)
                if slots and all(self.shows(outputs[slot]) for slot in slots):
                    self.covered.add(name)
