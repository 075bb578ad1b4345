"""Whether two calls of a function from the same state gave the same, to the last bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tfdbg_cli.capture.functions.calling.kept_tensors import array_of
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.model.dtypes import HANDLE_NUMBERS
from tfdbg_cli.model.exactness import Parting, parted
from tfdbg_cli.process.interruptions import our_errors

_SMALL = 1 << 12  # elements


@dataclass(frozen=True)
class CallOutcome:
    """What a call did: its flat outputs, and its variables after it, by position; None where one is not known."""

    outputs: Sequence[EagerTensor | None]
    variables: Mapping[int, EagerTensor | None]


@dataclass(frozen=True)
class Agreement:
    """How many outputs and variables were compared, and which of them were not the same."""

    compared: int
    partings: tuple[Parting, ...]


def agreement(root: Scope, first: CallOutcome, second: CallOutcome) -> Agreement:
    """Compare two calls of the function of `root`, as far as both are known and hold numbers."""
    names = [str(root.resolve(reference)) for reference in root.body.returns]
    triples = list(zip(names, first.outputs, second.outputs, strict=False))
    triples += [(root.argument_names[at], value, second.variables.get(at)) for at, value in first.variables.items()]
    found: dict[str, tuple[EagerTensor, EagerTensor]] = {}
    for name, one, two in triples:
        if _holds(one) and _holds(two):
            found.setdefault(name, (one, two))
    with INSIDE:
        looked_at = {name: tuple(map(array_of, pair)) for name, pair in found.items() if not _is_plainly_same(*pair)}
    values = looked_at.values()
    return Agreement(len(found), parted(looked_at, (one for one, _ in values), (two for _, two in values)))


def _holds(tensor: EagerTensor | None) -> bool:
    return tensor is not None and compat.dtype_number(tensor) not in HANDLE_NUMBERS


def _is_plainly_same(one: EagerTensor, two: EagerTensor) -> bool:
    """Whether two small tensors are the same to the last bit; False also if that takes a closer look.

    A quick test first, since most of the hundreds of variables of a network are small and the same.
    """
    if one is two:
        return True
    if compat.dtype_number(one) != compat.dtype_number(two) or compat.elements_of(one) > _SMALL:
        return False
    try:
        first, second = compat.host_array(one), compat.host_array(two)
    except our_errors():  # a device that is gone: the closer look says so
        return False
    if isinstance(first, bytes) or first.shape != second.shape or first.dtype.hasobject:  # texts
        return False
    return bool(first.tobytes() == second.tobytes())
