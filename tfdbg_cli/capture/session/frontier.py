"""Which tensors of a call must be checked so that no NaN or infinity in any of them goes unseen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tfdbg_cli.analysis.transparency import CHECKABLE, covering
from tfdbg_cli.analysis.undefined_outputs import is_undefined
from tfdbg_cli.capture.session.facts import Facts, attribute_of, is_placeholder


@dataclass(frozen=True)
class Frontier:
    """`checked` tensors that stand for `total`, which are all that can hold a NaN and were asked for.

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
    *,
    shown: Mapping[str, Collection[str]] = MappingProxyType({}),
    keeping: bool = False,
) -> Frontier:
    """The frontier of a call.

    Args:
        order: the ops that run, inputs first; without loops and branches.
        listed: their tensors, and those that are fed.
        fed_names: tensors whose ops are not asked.
        admits: which tensors to check; another covers nothing.
        shown: by the name of an op, the tensors whose values show in a variable that it writes and that is checked.
        keeping: infinities must be found as such; else a NaN may stand for one.

    """
    candidates = {tensor.name: tensor for tensor in listed if _can_be_bad(tensor, fed_names) and admits(tensor)}
    facts = Facts(fed_names)
    covered: set[str] = set()
    for op in order:
        facts.learn(op)
        covered.update(shown.get(op.name, ()))
        own = {name for name in (tensor.name for tensor in op.inputs) if name in candidates and name not in covered}
        if not own or not any(_counts(tensor, candidates, fed_names) for tensor in op.outputs):
            continue
        use = facts.use(op)
        for position, tensor in enumerate(op.inputs):
            if tensor.name in own:
                slots = covering(use, position, keeping=keeping)
                if slots and all(_counts(op.outputs[slot], candidates, fed_names) for slot in slots):
                    covered.add(tensor.name)
    covered |= facts.finite & candidates.keys()
    given = tuple(t for name, t in candidates.items() if name in fed_names and not is_placeholder(t))
    covered |= {tensor.name for tensor in given}
    checked = tuple(tensor for name, tensor in candidates.items() if name not in covered)
    return Frontier(checked, given, len(candidates))


def _can_be_bad(tensor: Any, fed_names: Collection[str]) -> bool:
    kind = tensor.dtype.base_dtype
    op = tensor.op
    if tensor.name not in fed_names and is_undefined(
        op.type, tensor.value_index, lambda name: attribute_of(op, name)
    ):
        return False
    return kind.name in CHECKABLE and (tensor.dtype == kind or tensor.name in fed_names)


def _counts(tensor: Any, candidates: Collection[str], fed_names: Collection[str]) -> bool:
    """Whether `tensor` is checked, or itself covered, and is what its op gives."""
    return tensor.name in candidates and tensor.name not in fed_names
