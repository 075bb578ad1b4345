"""Which tensors need not be asked, since the answer for them follows from those for others: found op by op.

For NaN and infinities a tensor need not be asked when an op that certainly runs reads it and cannot hide what is
wrong with it (ops/transparency.py): the output of that op is asked, or read in turn by such an op. For magnitudes and
zeros the output of an op need not be that holds elements of its inputs only (ops/element_bounds.py). A constant of
the graph is asked at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic

from tfdbg_cli.capture.questions.question import Covering, Question
from tfdbg_cli.ops.element_bounds import bounding_inputs, copied_inputs
from tfdbg_cli.ops.facts import Facts
from tfdbg_cli.ops.op_view import Name, OpView
from tfdbg_cli.ops.transparency import covering, is_transparent

_SOURCES = {Covering.BOUNDS: bounding_inputs, Covering.COPIES: copied_inputs}


@dataclass
class Coverage(Generic[Name]):
    """Finds the tensors that need not be asked, since the answer for another one implies theirs: they are `covered`.

    `shows(name)` says whether an output of an op is asked, or covered in turn, so that it can stand for inputs of the
    op; `is_given(name)` says the same of an input, which can then stand for outputs.
    """

    question: Question
    facts: Facts[Name]
    shows: Callable[[Name], bool]
    is_given: Callable[[Name], bool]
    covered: set[Name] = field(default_factory=set)

    def __post_init__(self) -> None:
        kind = self.question.covering  # asked once: for the many ops of a large graph hashing an Enum takes long
        self._sources_of = _SOURCES.get(kind)
        self._by_readers = kind is not Covering.NOTHING
        self._keeping = kind is Covering.READERS_KEEPING

    def look_at(self, op: OpView[Name], may_be_covered: Callable[[Name], bool]) -> None:
        """Add to `covered` what need not be asked because of `op`; of its inputs only those that `may_be_covered`."""
        if op.op_type == "Const":
            self.covered.update(name for name in op.outputs if self.shows(name) and self._is_healthy(op, name))
        elif self._sources_of is not None:
            self._cover_outputs(op, self._sources_of)
        elif self._by_readers and is_transparent(op.op_type):
            own = {name for name in op.inputs if name not in self.covered and may_be_covered(name)}
            if own and any(map(self.shows, op.outputs)):
                self._cover_inputs(op, own)

    def _is_healthy(self, op: OpView[Name], name: Name) -> bool:
        """Whether the constant `name`, an output of `op`, certainly does not pass."""
        known = self.facts.constant(name)
        if self.question.sees_finite and known is not None and math.isfinite(known.largest):
            return True
        return not self.question.asked_of(op.array)

    def _cover_outputs(self, op: OpView[Name], sources: Callable[[str, int, int], Sequence[int] | None]) -> None:
        inputs = op.inputs
        for slot, name in enumerate(op.outputs):
            positions = sources(op.op_type, slot, len(inputs)) if self.shows(name) else None
            if positions and all(self.is_given(inputs[position]) for position in positions):
                self.covered.add(name)

    def _cover_inputs(self, op: OpView[Name], own: set[Name]) -> None:
        use, outputs = self.facts.use(op), op.outputs
        for position, name in enumerate(op.inputs):
            if name in own:
                slots = covering(use, position, keeping=self._keeping)
                if slots and all(self.shows(outputs[slot]) for slot in slots):
                    self.covered.add(name)
