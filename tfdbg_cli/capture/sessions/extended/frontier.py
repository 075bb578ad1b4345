"""Which tensors of a call must be asked so that what a question looks for goes unseen in none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from tfdbg_cli.capture.questions.question import Covering, Question
from tfdbg_cli.capture.sessions.extended.facts import Facts, array_of, attribute_of, is_placeholder
from tfdbg_cli.ops.element_bounds import bounding_inputs, copied_inputs
from tfdbg_cli.ops.transparency import CHECKABLE, covering, is_transparent
from tfdbg_cli.ops.undefined_outputs import is_undefined


@dataclass(frozen=True)
class Frontier:
    """`checked` tensors that stand for `total`, which are all that may pass and were asked for.

    `given` are fed tensors that are no placeholders. They must be looked at as they are fed: the optimizer may take
    such a tensor for the constant that it would be, and compute what reads it, a check too, from that.
    """

    checked: tuple[Any, ...]
    given: tuple[Any, ...]
    total: int


def frontier(
    order: Sequence[Any],
    listed: Iterable[Any],
    fed_names: Collection[str],
    admits: Callable[[Any], bool],
    question: Question,
    *,
    shown: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> Frontier:
    """The frontier of a call.

    Args:
        order: the ops that run, inputs first; without loops and branches.
        listed: their tensors, and those that are fed.
        fed_names: tensors whose ops are not asked.
        admits: which tensors to check; another covers nothing.
        question: what is asked.
        shown: by the name of an op, the tensors whose values show in a variable that it writes and that is checked.

    """
    candidates = {tensor.name: tensor for tensor in listed if _can_be_bad(tensor, fed_names) and admits(tensor)}
    search = _Search(candidates, fed_names, question)
    for op in order:
        search.look_at(op, shown.get(op.name, ()))
    given = tuple(t for name, t in candidates.items() if name in fed_names and not is_placeholder(t))
    covered = search.covered | {tensor.name for tensor in given}
    checked = tuple(tensor for name, tensor in candidates.items() if name not in covered)
    return Frontier(checked, given, len(candidates))


@dataclass
class _Search:
    candidates: Mapping[str, Any]
    fed_names: Collection[str]
    question: Question
    covered: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._facts = Facts(self.fed_names)

    def look_at(self, op: Any, shown: Collection[str]) -> None:
        """Find out what need not be checked because of `op`; `shown` is what is seen in a variable that it writes."""
        self._facts.learn(op)
        self.covered.update(shown)
        match self.question.covering:
            case Covering.READERS | Covering.READERS_KEEPING:
                self._cover_inputs(op)
                self.covered.update(self._facts.finite & {tensor.name for tensor in op.outputs})
                return
            case Covering.BOUNDS:
                self._cover_outputs(op, bounding_inputs)
            case Covering.COPIES:
                self._cover_outputs(op, copied_inputs)
        if op.type == "Const" and self._counts(op.outputs[0]) and not self.question.asked_of(array_of(op)):
            self.covered.add(op.outputs[0].name)

    def _cover_inputs(self, op: Any) -> None:
        if not is_transparent(op.type):
            return
        inputs, outputs = op.inputs, op.outputs
        names = (tensor.name for tensor in inputs)
        own = {name for name in names if name in self.candidates and name not in self.covered}
        if not own or not any(map(self._counts, outputs)):
            return
        use = self._facts.use(op)
        keeping = self.question.covering is Covering.READERS_KEEPING
        for position, tensor in enumerate(inputs):
            if tensor.name in own:
                slots = covering(use, position, keeping=keeping)
                if slots and all(self._counts(outputs[slot]) for slot in slots):
                    self.covered.add(tensor.name)

    def _cover_outputs(self, op: Any, sources: Callable[[str, int, int], range | None]) -> None:
        """Cover the outputs of `op` that hold elements of inputs that are looked after."""
        for slot, tensor in enumerate(op.outputs):
            positions = sources(op.type, slot, len(op.inputs)) if self._counts(tensor) else None
            if positions and all(self._is_as_given(op.inputs[position]) for position in positions):
                self.covered.add(tensor.name)

    def _is_as_given(self, tensor: Any) -> bool:
        """Whether `tensor` is looked after, and is certainly what its readers get (see `Frontier`)."""
        return tensor.name in self.candidates and (tensor.name not in self.fed_names or is_placeholder(tensor))

    def _counts(self, tensor: Any) -> bool:
        """Whether `tensor` is checked, or itself covered, and is what its op gives."""
        return tensor.name in self.candidates and tensor.name not in self.fed_names


def _can_be_bad(tensor: Any, fed_names: Collection[str]) -> bool:
    kind = tensor.dtype.base_dtype
    op = tensor.op
    if tensor.name not in fed_names and is_undefined(
        op.type, tensor.value_index, lambda name: attribute_of(op, name)
    ):
        return False
    return kind.name in CHECKABLE and (tensor.dtype == kind or tensor.name in fed_names)
