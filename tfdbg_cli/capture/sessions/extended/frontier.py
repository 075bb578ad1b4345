"""The frontier of a call: the fewest tensors to check so that nothing that a question looks for goes unseen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TypeAlias

from tfdbg_cli.capture.questions.coverage import Coverage
from tfdbg_cli.capture.questions.question import Question
from tfdbg_cli.capture.sessions.graph_ops import GraphOp, facts_of, is_placeholder
from tfdbg_cli.capture.tf.types import SymbolicTensor
from tfdbg_cli.model.dtypes import FIRST_REFERENCE, element_type
from tfdbg_cli.ops.facts import Facts
from tfdbg_cli.ops.transparency import CHECKABLE
from tfdbg_cli.ops.undefined_outputs import MAYBE_UNDEFINED, is_undefined

# Whether to check the output of an op in that slot.
Admits: TypeAlias = Callable[[GraphOp, int], bool]


@dataclass(frozen=True)
class SessionFrontier:
    """The `checked` tensors, whose answers stand for `total` tensors: all that can pass and are admitted.

    `given` are fed tensors that are no placeholders. These must be looked at as they are fed: the optimizer may take
    such a tensor for the constant that its op gives, and compute its readers, checks included, from that.
    """

    checked: tuple[SymbolicTensor, ...]
    given: tuple[SymbolicTensor, ...]
    total: int


def frontier(
    ops: Sequence[GraphOp],
    listed: Mapping[str, SymbolicTensor],
    fed_names: Collection[str],
    admits: Admits,
    question: Question,
    *,
    shown: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> SessionFrontier:
    """The frontier of a call.

    Args:
        ops: those that run, inputs first.
        listed: their tensors by name, without those in loops and branches; and those that are fed.
        fed_names: tensors whose ops are not asked.
        admits: which tensors to check. A tensor that it does not admit cannot stand for others either.
        question: what is asked.
        shown: by the name of an op, tensors that need no check since the variable that the op writes is checked.

    """
    fed = _fed(listed, fed_names, admits)
    candidates = {**fed, **{name: listed[name] for name in _computed(ops, fed_names, admits) if name in listed}}
    search = _Search(candidates, fed_names, question, facts_of(ops, fed_names))
    for op in ops:
        search.look_at(op, shown.get(op.name, ()) if shown else ())
    given = tuple(t for name, t in candidates.items() if name in fed_names and not is_placeholder(t))
    covered = search.covered | {tensor.name for tensor in given}
    checked = tuple(tensor for name, tensor in candidates.items() if name not in covered)
    return SessionFrontier(checked, given, len(candidates))


@dataclass
class _Search:
    candidates: Mapping[str, SymbolicTensor]
    fed_names: Collection[str]
    question: Question
    facts: Facts[str]

    def __post_init__(self) -> None:
        self._coverage: Coverage[str] = Coverage(self.question, self.facts, self._shows, self._is_as_given)
        self.covered = self._coverage.covered

    def look_at(self, op: GraphOp, shown: Collection[str]) -> None:
        """Find out which tensors need no check because of `op`; `shown` are those that show in a checked variable."""
        self.facts.learn(op)
        self.covered.update(shown)
        self._coverage.look_at(op, self.candidates.__contains__)

    def _is_as_given(self, name: str) -> bool:
        """Whether a tensor is checked or covered, and its readers get the same value for sure (`SessionFrontier`)."""
        tensor = self.candidates.get(name)
        return tensor is not None and (name not in self.fed_names or is_placeholder(tensor))

    def _shows(self, name: str) -> bool:
        """Whether a tensor is checked or covered, and is computed by its op rather than fed."""
        return name in self.candidates and name not in self.fed_names


@cache
def _may_hold_nan(number: int) -> bool:
    """Whether a tensor of the dtype of that number, or the variable that it refers to, may hold a NaN."""
    return element_type(number).name in CHECKABLE


def _fed(
    listed: Mapping[str, SymbolicTensor], fed_names: Collection[str], admits: Admits
) -> dict[str, SymbolicTensor]:
    """The fed tensors to look at, by name."""
    found = {name: listed[name] for name in sorted(fed_names) if name in listed}  # in one order in every process
    return {
        name: tensor
        for name, tensor in found.items()
        if _may_hold_nan(tensor.dtype.as_datatype_enum) and admits(GraphOp(tensor.op), tensor.value_index)
    }


def _computed(ops: Iterable[GraphOp], fed_names: Collection[str], admits: Admits) -> Iterator[str]:
    """The names of tensors that `ops` compute, and that may hold something bad."""
    for op in ops:
        undefined = op.op_type in MAYBE_UNDEFINED
        for slot, dtype in enumerate(op.dtypes):
            if dtype >= FIRST_REFERENCE or not _may_hold_nan(dtype) or not admits(op, slot):
                continue
            if not (undefined and is_undefined(op.op_type, slot, op.attribute)) and op.outputs[slot] not in fed_names:
                yield op.outputs[slot]
