"""The frontier of a call: the fewest tensors to check so that nothing that a question looks for goes unseen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from tfdbg_cli.capture.questions.coverage import Coverage
from tfdbg_cli.capture.questions.question import Question
from tfdbg_cli.capture.sessions.graph_ops import GraphOp, attribute_of, facts_of, is_placeholder
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor
from tfdbg_cli.model.dtypes import FIRST_REFERENCE, element_type
from tfdbg_cli.ops.facts import Facts
from tfdbg_cli.ops.op_view import Kind
from tfdbg_cli.ops.transparency import CHECKABLE
from tfdbg_cli.ops.undefined_outputs import MAYBE_UNDEFINED, is_undefined


@dataclass(frozen=True)
class Frontier:
    """The `checked` tensors, whose answers stand for `total` tensors: all that can pass and are admitted.

    `given` are fed tensors that are no placeholders. These must be looked at as they are fed: the optimizer may take
    such a tensor for the constant that its op gives, and compute its readers, checks included, from that.
    """

    checked: tuple[SymbolicTensor, ...]
    given: tuple[SymbolicTensor, ...]
    total: int


def frontier(
    order: Sequence[Op],
    listed: Iterable[SymbolicTensor],
    fed_names: Collection[str],
    admits: Callable[[SymbolicTensor], bool],
    question: Question,
    *,
    shown: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> Frontier:
    """The frontier of a call.

    Args:
        order: the ops that run, inputs first; without loops and branches.
        listed: their tensors, and those that are fed.
        fed_names: tensors whose ops are not asked.
        admits: which tensors to check. A tensor that it does not admit cannot stand for others either.
        question: what is asked.
        shown: by the name of an op, tensors that need no check since the variable that the op writes is checked.

    """
    candidates = {tensor.name: tensor for tensor in listed if _can_be_bad(tensor, fed_names) and admits(tensor)}
    search = _Search(candidates, fed_names, question, facts_of(order, fed_names))
    for op in order:
        search.look_at(op, shown.get(op.name, ()))
    given = tuple(t for name, t in candidates.items() if name in fed_names and not is_placeholder(t))
    covered = search.covered | {tensor.name for tensor in given}
    checked = tuple(tensor for name, tensor in candidates.items() if name not in covered)
    return Frontier(checked, given, len(candidates))


@dataclass
class _Search:
    candidates: Mapping[str, SymbolicTensor]
    fed_names: Collection[str]
    question: Question
    facts: Facts[str]

    def __post_init__(self) -> None:
        self._coverage: Coverage[str] = Coverage(self.question, self.facts, self._shows, self._is_as_given)
        self.covered = self._coverage.covered
        self._kinds: dict[str, Kind] = {}

    def look_at(self, op: Op, shown: Collection[str]) -> None:
        """Find out which tensors need no check because of `op`; `shown` are those that show in a checked variable."""
        view = GraphOp(op, self._kinds)
        self.facts.learn(view)
        self.covered.update(shown)
        self._coverage.look_at(view, self.candidates.__contains__)

    def _is_as_given(self, name: str) -> bool:
        """Whether a tensor is checked or covered, and its readers certainly get the same value (see `Frontier`)."""
        tensor = self.candidates.get(name)
        return tensor is not None and (name not in self.fed_names or is_placeholder(tensor))

    def _shows(self, name: str) -> bool:
        """Whether a tensor is checked or covered, and is computed by its op rather than fed."""
        return name in self.candidates and name not in self.fed_names


@cache
def _may_hold_nan(number: int) -> bool:
    """Whether a tensor of the dtype of that number, or the variable that it refers to, may hold a NaN."""
    return element_type(number).name in CHECKABLE


def _can_be_bad(tensor: SymbolicTensor, fed_names: Collection[str]) -> bool:
    number = tensor.dtype.as_datatype_enum
    if not _may_hold_nan(number):
        return False
    if fed_names and tensor.name in fed_names:
        return True
    if number >= FIRST_REFERENCE:
        return False
    op = tensor.op
    return op.type not in MAYBE_UNDEFINED or not is_undefined(
        op.type, tensor.value_index, lambda name: attribute_of(op, name)
    )
